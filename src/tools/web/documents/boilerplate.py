"""Blocks that stand among the text of a page without belonging to it: invitations, credits, tags, lists of further reading."""

import re

_LINK = re.compile(r"\[([^\[\]\n]{0,500})\]\(https?://[^()\s]{1,2000}\)")
_MARKUP = re.compile(r"(?m)^[ ]{0,20}(?:#{1,6} |> ?|[-*] +|\d{1,5}\. )+")
_WORD = re.compile(r"\w+")
# Each matches the beginning of a block of at most so many characters, in the languages that such lines were met in.
_READ_ON = (
    r"(?:read (?:more|also|next|this|on)|also read|see also|more (?:on|from|about) this|related|recommended|don[’']t miss|"
    r"you (?:may|might) also|lesen sie (?:auch|mehr|hier)|mehr zum thema|mehr dazu|siehe auch|auch interessant|"
    r"weitere (?:aktuelle )?(?:themen|artikel|meldungen|beiträge)|(?:à )?lire (?:aussi|également)|voir aussi|leer? (?:también|más)|"
    r"más (?:sobre|información|noticias)|te puede interesar|también te|leia (?:também|mais)|veja também|saiba mais|leggi anche|"
    r"lees (?:ook|meer)|läs (?:mer|också)|les også|læs også|czytaj (?:też|także|więcej)|"
    r"zobacz (?:też|także)|читайте (?:также|ещё|еще)|ayrıca okuyun|관련 ?기사|関連記事|相关(?:阅读|新闻|文章)|延伸閱讀)"
)
_LINES: tuple[tuple[int, re.Pattern[str]], ...] = tuple(
    (limit, re.compile(pattern, re.I))
    for limit, pattern in (
        (160, _READ_ON + r"(?:[^.!?]{0,40}[:|>»–-]|[^.!?]{0,40}$)"),
        (
            240,
            r"(?:tags?|topics?|filed under|posted in|categor(?:y|ies)|schlagw(?:ö|o)rte?r?|themen|etiquetas|mots[- ]clés|метки|теги)\s*:",
        ),
        (60, r"(?:tags?|topics?|categories|themen|etiquetas)$"),
        (120, r"(?:photos?|fotos?|image|titelbild|bild|picture|pic|crédits?|credits?)(?: (?:credit|courtesy|source|by))?s?\s*[:©]"),
        (
            200,
            r"(?:©|\(c\) |copyright\b|all rights reserved|alle rechte vorbehalten|todos los derechos|tous droits|todos os direitos)",
        ),
        (
            200,
            r"(?:follow (?:us|me|@|him|her|them)\b|subscribe\b|sign up (?:for|to)\b|get access to\b|share (?:this|on)\b)",
        ),
        (
            200,
            r"(?:folgen sie uns|abonnieren sie|jetzt (?:abonnieren|anmelden)|suscríbete|síguenos|abonnez-vous|suivez|inscrivez|assine)\b",
        ),
        (30, r"(?:advertisement|advertising|anzeige|werbung|publicité|publicidad|reklam|реклама|sponsored(?: content)?|loading\b.*)$"),
        (30, r"(?:share|print|e-?mail|tweet|teilen|drucken|compartir|imprimir|partager|previous|next|close|menu|jump to \w+)$"),
        (60, r"(?:lesedauer|lesezeit|reading time|tiempo de lectura|temps de lecture|\d{1,3} min(?:ute)?s? (?:read|lesezeit|de lecture))"),
        (80, r"(?:last (?:updated|modified)|letzte (?:änderung|aktualisierung)|zuletzt (?:aktualisiert|geändert)|page last)"),
        (
            40,
            r"(?:\d+ )?(?:comments?|kommentare?|comentarios|commentaires|комментарии|yorumlar)(?: ?\(?\d+\)?)?(?: insgesamt)?\s*:?\s*\d*$",
        ),
        (300, r"if you enjoyed this (?:article|post|story)\b"),
    )
)
_END_SECTION = re.compile(
    rf"(?:{_READ_ON}|more (?:from|stories|news|articles)|latest (?:news|stories|posts)|popular|trending|most read|meistgelesen|"
    r"comments?\b|kommentare\b|leave a (?:comment|reply)|share this|about the author|recent (?:posts|slide)|featured\b|newsletter)",
    re.I,
)
# Characters from which a page counts as prose, so that a heading at its end is a leftover.
_PROSE = 600
_STRUCTURE = re.compile(r"[#|>`]|[-*] |\d+\. ")
_CONTINUES = re.compile(r"[,.;:)]\s|[^\W\d_A-Z]")
_ENDED = re.compile(r"[.!?:;\u2026\u3002\uff01\uff1f][\"'\u201d\u2019\u00bb)\]]*$")
_BYLINE = re.compile(r"(?:by|von|por|par|di|от|door|av) [^.!?:]{3,60}$", re.I)
_DATED = re.compile(r"\b(?:19|20)\d\d\b")


def without_boilerplate(blocks: list[str], title: str) -> list[str]:
    """The blocks of a page that are its text.

    Args:
        blocks: Markdown blocks in order.
        title: the page's title; a first block that only repeats it without being a heading is left out.
    """
    kept = [block for block in _without_end_section(blocks) if not is_furniture(block)]
    if sum(map(len, kept)) < 0.3 * sum(map(len, blocks)):
        return blocks
    return _trimmed_end(_trimmed_start(kept, title))


def rejoined(blocks: list[str]) -> list[str]:
    """The blocks with sentences put together again that were parted at a link or an emphasised word."""
    out: list[str] = []
    for index, block in enumerate(blocks):
        after = blocks[index + 1] if index + 1 < len(blocks) else ""
        inside = len(plain(block)) <= 80 and bool(_CONTINUES.match(after)) and not _ENDED.search(block)
        is_open = bool(out) and not _STRUCTURE.match(out[-1]) and not _STRUCTURE.match(block) and not _ENDED.search(out[-1])
        if is_open and (_CONTINUES.match(block) or inside):
            out[-1] = f"{out[-1]}{'' if block[0] in ',.;:)' else ' '}{block}"
        else:
            out.append(block)
    return out


def is_furniture(block: str) -> bool:
    """Whether a block is a line of the page's furniture."""
    if len(block) > 700 or block.startswith(("|", "```")):
        return False
    text = plain(block)
    return any(len(text) <= limit and pattern.match(text) for limit, pattern in _LINES)


def plain(block: str) -> str:
    """A block without the marks of headings, lists, quotes and links."""
    return _MARKUP.sub("", _LINK.sub(r"\1", block)).strip()


def _trimmed_start(blocks: list[str], title: str) -> list[str]:
    """Without a bare repetition of the title, and bylines and dates above the first paragraph."""
    wanted = _key(title)
    start = 0
    for block in blocks[:3]:
        text = plain(block)
        heading = block.startswith("#")
        repeats = not heading and len(text) > 15 and _key(text) and wanted.startswith(_key(text))
        credit = not heading and len(text) <= 80 and not text.endswith((".", "!", "?", ":"))
        if repeats or (credit and (_BYLINE.match(text) or _DATED.search(text)) and not block.startswith(("|", "-", "`"))):
            start += 1
        else:
            break
    return blocks[start:] if start < len(blocks) else blocks


def _without_end_section(blocks: list[str]) -> list[str]:
    """Without a last section that leads on to other pages: a telling heading with nothing but short blocks and links under it."""
    total = sum(map(len, blocks))
    seen = 0
    for index, block in enumerate(blocks):
        if block.startswith("#") and seen > 0.4 * total and _END_SECTION.match(plain(block)) and all(map(_is_aside, blocks[index + 1 :])):
            return blocks[:index]
        seen += len(block)
    return blocks


def _trimmed_end(blocks: list[str]) -> list[str]:
    """Without the lists of links and the headings with nothing under them that trail the text."""
    total = sum(map(len, blocks))
    end = len(blocks)
    while total > _PROSE and end > 1 and (blocks[end - 1].startswith("#") or _is_link_list(blocks[end - 1])):
        end -= 1
    return blocks[:end]


def _is_aside(block: str) -> bool:
    return block.startswith("#") or len(plain(block)) < 200 or _is_link_list(block)


def _is_link_list(block: str) -> bool:
    """Whether a block is nothing but links."""
    linked = sum(len(match[1]) for match in _LINK.finditer(block))
    return linked > 0.8 * len(plain(block)) and "](" in block


def _key(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
