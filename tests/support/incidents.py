"""What incident tests share: rivers, and roles that do one thing wrong."""

import re

from deepdelve.config import Settings
from deepdelve.core import events as ev
from tests.support.scripted import call, text
from tests.support.whole_run import (
    RIVERS,
    good_analyzer,
    results,
    said,
)

THREE = {**RIVERS, "Cedar": "# The Cedar\n\nThe Cedar is a river in the west. The Cedar is 77 kilometres long. It freezes at 4 degrees.\n"}
THREE_TASKS = tuple((f"river {name}", f"How long is the river {name}?") for name in THREE)
THREE_ASKED = "How long are the rivers Alder, Birch and Cedar?"


def quick(**more):
    return Settings.model_validate({"settings": more})


def winners(run):
    return [event.problem for event in run.surface.of(ev.CheckVerdict) if event.problem]


def dispatches(run, role):
    return [event for event in run.surface.of(ev.DispatchStarted) if event.role == role]


def told(run, role):
    """The first message of each dispatch of a role, in order."""
    started = [event.dispatch for event in dispatches(run, role)]
    return [next(m.text for m in run.surface.of(ev.Message) if m.dispatch == d and m.role == "User") for d in started]


def finds_nothing_about(name):
    """An Analyzer that answers nothing for tasks of this name."""

    def rule(messages, options):
        if name in said(messages).split("Sources to read:")[0].split("Your task:")[1]:
            return text("The sources do not answer the task.")
        return good_analyzer(messages, options)

    return rule


def writes(*bodies):
    """A Builder that gives these reports in turn and the last one from then on; ids of Alder and Birch are put in."""
    left = list(bodies)

    def rule(messages, options):
        found = results(messages)
        if not found:
            return [call("read_workspace_file", name="findings.md")]
        if len(found) > 1:
            return text("Written.")
        body = left.pop(0) if len(left) > 1 else left[0]
        for name in THREE:
            named = re.search(rf"\b{name}\b[^\n\[]*\[(S\d+)\]", found[0])
            body = body.replace(f"[{name}]", f"[{named.group(1)}]") if named else body
        return [call("write_workspace_file", name="final_report.md", text=body)]

    return rule


def obeys(rule):
    """A Builder that also writes the sentences that it is told to keep."""

    def chosen(messages, options):
        reply = rule(messages, options)
        if reply[0].type == "function_call" and reply[0].name == "write_workspace_file":
            args = reply[0].parse_arguments()
            keep = re.findall(r"^\s+(No source in the available evidence[^\n]*)", said(messages), re.MULTILINE)
            return [call("write_workspace_file", name=args["name"], text=args["text"] + "\n" + "\n\n".join(keep) + "\n")]
        return reply

    return chosen
