"""Every key of the app, by id, so that ``ui.keys`` in the settings can move it.

Priority bindings are carried out before keys typed earlier have reached their widget: only those that do not depend on what
was typed may be such.
"""

from textual.binding import Binding, BindingType

APP: list[BindingType] = [
    Binding("ctrl+q", "quit", "Quit", id="app.quit", priority=True),
    Binding("f1", "help_focused", "Help", id="app.help"),
    Binding("ctrl+backslash", "log", "Log", id="app.log", show=False),
]
RESEARCH: list[BindingType] = [
    Binding("escape", "stop", "Stop", id="research.stop"),
    Binding("ctrl+b", "toggle_sidebar", "Sidebar", id="research.sidebar"),
    Binding("ctrl+o", "report", "Report", id="research.report"),
    Binding("f2", "tab('plan')", "Plan", id="research.plan", show=False, priority=True),
    Binding("f3", "tab('sources')", "Sources", id="research.sources", show=False, priority=True),
    Binding("f4", "tab('checks')", "Checks", id="research.checks", show=False, priority=True),
    Binding("f5", "tab('claims')", "Claims", id="research.claims", show=False, priority=True),
    Binding("f6", "tab('activity')", "Activity", id="research.activity", show=False, priority=True),
    Binding("ctrl+r", "recall", "Earlier prompts", id="research.recall", show=False),
    Binding("ctrl+l", "focus_prompt", "Prompt", id="research.prompt", show=False),
]
PROMPT: list[BindingType] = [
    Binding("enter", "submit", "Send", id="prompt.submit"),
    Binding("shift+enter,ctrl+j,alt+enter", "newline", "New line", id="prompt.newline", show=False),
    Binding("tab", "complete", "Complete", id="prompt.complete", show=False),
    Binding("ctrl+g", "editor", "Editor", id="prompt.editor", show=False),
]
EXPANDABLE: list[BindingType] = [
    Binding("enter,space", "fold", "Open or close", id="block.toggle"),
    Binding("y", "copy", "Copy", id="block.copy", show=False),
]
TRANSCRIPT: list[BindingType] = [
    Binding("pageup", "older", "Earlier", id="transcript.older", show=False),
    Binding("pagedown", "newer", "Later", id="transcript.newer", show=False),
    Binding("end", "newest", "Newest", id="transcript.newest", show=False),
]
APPROVAL: list[BindingType] = [
    Binding("a", "decide('allow')", "Allow", id="approval.allow"),
    Binding("d", "decide('deny')", "Deny", id="approval.deny"),
    Binding("A", "decide('always')", "Always in this session", id="approval.always"),
]
PLAN_APPROVAL: list[BindingType] = [
    Binding("ctrl+s", "accept", "Start with this plan", id="plan.accept"),
    Binding("escape", "as_is", "Start with the plan as it was", id="plan.as_is"),
]
INTAKE: list[BindingType] = [Binding("escape", "skip", "Go without answers", id="intake.skip")]
REPORT: list[BindingType] = [
    Binding("n", "claim(1)", "Next claim", id="report.next"),
    Binding("p", "claim(-1)", "Previous", id="report.previous"),
    Binding("u", "doubtful", "Next unsupported", id="report.unsupported"),
    Binding("left", "cited(-1)", "Previous source", id="report.previous_source", show=False),
    Binding("right", "cited(1)", "Next source", id="report.next_source", show=False),
    Binding("g", "figures", "Figures", id="report.figures", show=False),
    Binding("o", "open_url", "Open URL", id="report.open"),
    Binding("s", "sources", "Sources", id="report.sources"),
    Binding("c", "contents", "Contents", id="report.contents"),
    Binding("e", "export", "Export", id="report.export"),
    Binding("y", "copy", "Copy", id="report.copy", show=False),
    Binding("slash", "find", "Find", id="report.find"),
    Binding("a", "ask", "Ask about it", id="report.ask"),
    Binding("escape", "close", "Back", id="report.close"),
]
RUNS: list[BindingType] = [
    Binding("enter", "open", "Report", id="runs.open"),
    Binding("r", "resume", "Resume", id="runs.resume"),
    Binding("f", "follow_up", "Follow up", id="runs.follow_up"),
    Binding("v", "verify", "Verify", id="runs.verify"),
    Binding("d", "delete", "Delete", id="runs.delete"),
    Binding("escape", "close", "Back", id="runs.close"),
]
SESSIONS: list[BindingType] = [
    Binding("enter", "open", "Open", id="sessions.open"),
    Binding("escape", "close", "Back", id="sessions.close"),
]
_ROWS: list[BindingType] = [
    Binding("up", "move(-1)", "Up", id="history.up", show=False),
    Binding("down", "move(1)", "Down", id="history.down", show=False),
    Binding("pageup", "page(-1)", "Page up", id="history.page_up", show=False),
    Binding("pagedown", "page(1)", "Page down", id="history.page_down", show=False),
]
HISTORY: list[BindingType] = [
    *_ROWS,
    Binding("f6", "rung('prompt')", "Prompts", id="history.prompts"),
    Binding("f7", "rung('deep')", "Likeliest conversations", id="history.deep"),
    Binding("f8", "rung('exhaustive')", "Everything", id="history.exhaustive"),
    Binding("escape", "close", "Stop, then back", id="history.close"),
]
RECALL: list[BindingType] = [
    *_ROWS,
    Binding("ctrl+r", "mode", "Session, run, everywhere", id="recall.mode"),
    Binding("escape", "close", "Back", id="recall.close"),
]
FILES: list[BindingType] = [
    Binding("enter", "open", "Read", id="files.open"),
    Binding("y", "copy", "Copy name", id="files.copy", show=False),
    Binding("escape", "close", "Back", id="files.close"),
]
CLOSE: list[BindingType] = [Binding("escape,q", "close", "Back", id="screen.close")]
SETTINGS: list[BindingType] = [Binding("escape", "close", "Back", id="settings.close")]
