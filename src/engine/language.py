"""The language of a question, by its script and its small words. Reports are written in it."""

import re
from itertools import chain

# Small words that are common in one language and rare in the others.
_SMALL_WORDS: dict[str, str] = {
    "English": "the of and is are what how which does do in to for between with when why who where has have on a an by from about as at it",
    "German": "der die das und ist sind was wie welche wer wo warum zwischen für mit von den dem ein eine nicht werden",
    "French": "le la les des est sont quel quelle quels comment pourquoi entre avec dans pour une du et où qui aux",
    "Spanish": "el los las es son qué cuál cuáles cómo por entre con para una del y dónde quién según",
    "Portuguese": "o os as é são qual quais como entre com para uma do da dos das e onde quem não em",
    "Italian": "il lo gli è sono quale quali come tra con per una della dei e dove chi perché nel",
    "Dutch": "het een van en is zijn wat hoe welke wie waar tussen met voor niet de wordt",
    "Polish": "jest są jaki jakie jaka jak w na i z dla między kto gdzie dlaczego czy oraz nie",
    "Swedish": "och är vad hur vilka vilken mellan med för som det den inte av till på",
    "Norwegian": "og er hva hvordan hvilke hvilken mellom med for som det den ikke av til på",
    "Danish": "og er hvad hvordan hvilke hvilken mellem med for som det den ikke af til på",
    "Finnish": "on ja mitä miten mikä mitkä kuka missä miksi ovat että sekä välillä",
    "Czech": "je jsou jak jaký jaké co v na a s pro mezi kdo kde proč nebo není",
    "Turkish": "ve bir nedir nasıl hangi için ile arasında ne kim nerede neden mı mi",
    "Indonesian": "yang dan apa bagaimana dari di untuk antara dengan siapa mengapa adalah",
}
# Words that stand in names and in titles of other languages too: Los Angeles, Der Spiegel, GDP per capita.
_NAME_WORDS = "a as co da das de del della den der di die do dos el en et i in is la las le les los me med na o on os per s v van z"
_WEAK = frozenset(_NAME_WORDS.split())
_WORDS = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}
_LANGUAGES = {word: tuple(n for n, small in _WORDS.items() if word in small) for word in chain.from_iterable(_WORDS.values())}
_SCRIPTS: tuple[tuple[str, str], ...] = (
    ("Japanese", "\u3040-\u30ff"),
    ("Korean", "\uac00-\ud7af"),
    ("Chinese", "\u4e00-\u9fff"),
    ("Arabic", "\u0600-\u06ff"),
    ("Hebrew", "\u0590-\u05ff"),
    ("Greek", "\u0370-\u03ff"),
    ("Hindi", "\u0900-\u097f"),
    ("Thai", "\u0e00-\u0e7f"),
)
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_UKRAINIAN = re.compile("[іїєґ]", re.IGNORECASE)
_PERSIAN = re.compile("[\u067e\u0686\u0698\u06af\u06cc]")
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """The language's English name, or an empty string where the text does not tell."""
    if not text.isascii() and (told := _by_script(text)):
        return told
    words = [word for word in map(str.lower, _WORD.findall(text)) if word in _LANGUAGES]
    counted = dict.fromkeys(_WORDS, 0)
    for word in words:
        weight = 1 if word in _WEAK else 2
        for language in _LANGUAGES[word]:
            counted[language] += weight
    best = max(counted, key=lambda language: counted[language])
    # Weak words add to others; alone they tell nothing.
    return best if any(word in _WORDS[best] and word not in _WEAK for word in words) else ""


def _by_script(text: str) -> str:
    """The language of a text that is written in a script of its own; empty where it is not."""
    letters = sum(char.isalpha() for char in text)
    if not letters:
        return ""
    for name, characters in _SCRIPTS:
        # A few borrowed signs make no Japanese or Arabic question.
        if len(re.findall(f"[{characters}]", text)) >= max(1, letters // 5):
            return "Persian" if name == "Arabic" and len(_PERSIAN.findall(text)) > 1 else name
    if len(_CYRILLIC.findall(text)) >= max(1, letters // 5):
        return "Ukrainian" if _UKRAINIAN.search(text) else "Russian"
    return ""
