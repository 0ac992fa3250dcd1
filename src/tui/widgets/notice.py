"""Blocks that say one thing: what the person said, a notice, a stage, the delivered report, the end of a run."""

from textual.content import Content
from textual.widgets import Static

from deepdelve.tui.blocks import EndBlock, NoticeBlock, ReportBlock, StageBlock, UserBlock
from deepdelve.tui.text import OUTCOME_WORDS, STAGE_WORDS, claim_counts, clean, count, duration, one_line

LEVEL_SIGNS = {"info": "i", "warning": "!", "error": "✗"}


class Notice(Static):
    """A block whose text is made from its data by ``text``."""

    DEFAULT_CSS = """
    Notice { height: auto; }
    Notice.user { text-style: bold; border-left: thick $primary; padding-left: 1; margin: 1 0; }
    Notice.warning { color: $text-warning; }
    Notice.error { color: $text-error; }
    Notice.stage { color: $text-muted; }
    Notice.report { border: round $success; padding: 0 1; }
    """

    def __init__(self, block: UserBlock | NoticeBlock | StageBlock | ReportBlock | EndBlock) -> None:
        super().__init__(text(block), classes=f"block {_kind(block)}", markup=False)
        self.block = block

    async def show(self, block: UserBlock | NoticeBlock | StageBlock | ReportBlock | EndBlock) -> None:
        """Shows a newer state."""
        self.block = block
        self.update(text(block))


def text(block: UserBlock | NoticeBlock | StageBlock | ReportBlock | EndBlock) -> Content:
    """What a block says."""
    match block:
        case UserBlock():
            return Content(clean(block.text, 4_000))
        case NoticeBlock():
            return Content(f"{LEVEL_SIGNS[block.level]} {clean(block.text, 8_000)}")
        case StageBlock():
            return Content(f"── {STAGE_WORDS[block.stage]} ──")
        case ReportBlock():
            return Content.assemble(
                ("The report is ready. ", "bold"),
                f"{count(block.sources, 'source')} cited · {claim_counts(block.claims)}\nctrl+o opens it; type a question to ask about it.",
            )
        case EndBlock():
            parts = [OUTCOME_WORDS.get(block.outcome, block.outcome), duration(block.seconds)]
            lines = [" · ".join(parts), one_line(block.reason), *(f"- {one_line(problem)}" for problem in block.problems[:12])]
            return Content("\n".join(line for line in lines if line))


def _kind(block: UserBlock | NoticeBlock | StageBlock | ReportBlock | EndBlock) -> str:
    match block:
        case UserBlock():
            return "user"
        case NoticeBlock():
            return f"notice {block.level}"
        case StageBlock():
            return "stage"
        case ReportBlock():
            return "report"
        case EndBlock():
            return "end" if block.outcome == "verified" else "end warning"
