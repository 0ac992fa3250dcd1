"""The provider that needs no model: queries from the topic's words, a verdict by coverage, and a note of the sources' own sentences."""

from collections.abc import AsyncIterator, Sequence

from deepdelve.core.records import Usage
from deepdelve.engine.backends.builtin.passages import best_sentences, weigh_sources
from deepdelve.engine.backends.builtin.relevance import Ranked, SourceText, rank
from deepdelve.engine.bounded.provider import ChatMessage, RetrievalContext, UsageAccumulator
from deepdelve.utils.names import names
from deepdelve.utils.text import squash, stem, telling_words, terms

# So many sources must speak of the topic by themselves, or one that holds nearly all its words.
ENOUGH_SOURCES = 2
NEARLY_ALL = 0.9
MAX_QUOTED_SOURCES = 8
SENTENCES_EACH = 3
_WORDS_MISSING = 6


class RuleProvider:
    """Answers by rule. Nothing leaves the process, and no text of a source can change the rules."""

    def __init__(self) -> None:
        self._accumulator = UsageAccumulator()

    def bind_accumulator(self, accumulator: UsageAccumulator) -> None:
        """See ``InferenceProvider``."""
        self._accumulator = accumulator

    async def chat(self, messages: Sequence[ChatMessage], retrieval_context: RetrievalContext) -> AsyncIterator[str]:
        """See ``InferenceProvider``."""
        tasks = {"queries": _queries, "assess": _verdict, "synthesize": _note}
        reply = tasks[retrieval_context.task](retrieval_context)
        sent = sum(len(message.content) for message in messages)
        self._accumulator.record(Usage(tokens_in=sent // 4, tokens_out=len(reply) // 4, sent_chars=sent, estimated=True))
        yield reply


def _queries(context: RetrievalContext) -> str:
    words = " ".join(telling_words(context.topic))
    missing = [f"{words} {gap}" for gap in context.gaps]
    named = [f"{name} {words}" for name in names(context.topic)]
    return "\n".join(dict.fromkeys([*missing, squash(context.topic), words, *named]))


def _verdict(context: RetrievalContext) -> str:
    ranked = rank(context.topic, _texts(context))
    anchored = [entry for entry in ranked if entry.anchored]
    if len(anchored) >= ENOUGH_SOURCES or any(entry.coverage >= NEARLY_ALL for entry in anchored):
        return "SUFFICIENT"
    held = frozenset(terms(" ".join(excerpt.text for excerpt in context.excerpts)))
    missing = [word for word in telling_words(context.topic) if stem(word) not in held][:_WORDS_MISSING]
    return "\n".join(["INSUFFICIENT", *(f"- {term}" for term in missing)])


def _note(context: RetrievalContext) -> str:
    ranked = rank(context.topic, _texts(context))
    chosen = [entry for entry in ranked if entry.anchored] or ranked[:1]
    question = weigh_sources(context.topic, [entry.source for entry in chosen])
    sections = [f"# {context.topic}"]
    said: set[str] = set()
    for entry in chosen[:MAX_QUOTED_SOURCES]:
        quoted = [passage.text for passage in best_sentences(question, entry.source, (), SENTENCES_EACH) if passage.text not in said]
        said.update(quoted)
        if quoted:
            lines = "\n".join(f"- {text} [{entry.source.id}]" for text in quoted)
            sections.append(f"## {_heading(entry)}\n\n{lines}")
    return "\n\n".join(sections)


def _texts(context: RetrievalContext) -> list[SourceText]:
    return [SourceText(str(excerpt.n), excerpt.title, excerpt.text) for excerpt in context.excerpts]


def _heading(entry: Ranked) -> str:
    return squash(entry.source.title)[:120] or f"Source {entry.source.id}"
