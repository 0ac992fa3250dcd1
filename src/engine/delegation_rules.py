"""What ``delegate_tasks`` refuses before it dispatches: ordered rules, the first that matches wins, each says how to do it right."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from deepdelve.core.records import Role, Task
from deepdelve.engine.subjects import same_task, subject_words

Profile = Literal["", "web", "academic", "prose", "data"]
# Whom a role may ask. A role that is not named here asks nobody.
DELEGATES: dict[Role, Role] = {"Planner": "Searcher", "Searcher": "Analyzer"}


@dataclass(frozen=True, slots=True)
class Request:
    """One task as a model asks for it."""

    name: str
    instructions: str = ""
    facet: str = ""
    role: str = ""
    profile: str = ""
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """What is left. ``round_cap`` is tasks in one call, ``specialist_cap`` tasks of one role for one asker; None means no limit."""

    round_cap: int | None = None
    specialist_cap: int | None = None
    rounds_left: int | None = None
    max_depth: int = 2


@dataclass(frozen=True)
class Asker:
    """Who asks: its role, its depth (Planner 0), the tasks it asked for before, and the sources it can hand on."""

    role: Role = "Planner"
    depth: int = 0
    earlier: tuple[Task, ...] = ()
    known_sources: frozenset[str] = frozenset()
    retry: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused: the rule's name, and one or two sentences that say how to do it right."""

    rule: str
    reason: str
    of: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A request with the reason it is refused for, or None."""

    request: Request
    refusal: Refusal | None = None


@dataclass
class _Call:
    """The state of one call: what it accepted so far."""

    asker: Asker
    limits: Limits
    accepted: list[Request] = field(default_factory=list[Request])


Rule = Callable[[Request, _Call], Refusal | None]


def judge(requests: Sequence[Request], asker: Asker, limits: Limits) -> list[Judged]:
    """Each request of one call, accepted or refused, in order.

    ``asker.retry`` names tasks whose retry under the same name was asked for; they are no duplicates.
    """
    call = _Call(asker, limits)
    judged: list[Judged] = []
    for request in requests:
        refusal = next((found for rule in RULES if (found := rule(request, call)) is not None), None)
        if refusal is None:
            call.accepted.append(request)
        judged.append(Judged(request, refusal))
    return judged


def _may_not_delegate(_: Request, call: _Call) -> Refusal | None:
    if call.asker.role in DELEGATES and call.asker.depth < call.limits.max_depth:
        return None
    return Refusal(
        "may_not_delegate", "You cannot delegate. Do this piece of work yourself with the tools you have, and report what you found."
    )


def _wrong_role(request: Request, call: _Call) -> Refusal | None:
    wanted = DELEGATES[call.asker.role]
    if not request.role or request.role.casefold() == wanted.casefold():
        return None
    return Refusal("wrong_role", f"You can ask a {wanted} only, not a {_shown(request.role)}. Leave `role` out, or set it to {wanted}.")


def _missing_name(request: Request, _: _Call) -> Refusal | None:
    if request.name.strip():
        return None
    return Refusal("missing_name", "The task has no name. Give `task_name` a few words that name its subject, and ask again.")


def _missing_subject(request: Request, _: _Call) -> Refusal | None:
    if subject_words(f"{request.instructions} {request.facet}") or subject_words(request.name):
        return None
    return Refusal(
        "missing_subject",
        "The task names no subject, and whoever gets it sees nothing else of this run. Say in `instructions` what it is about, "
        "which place, time or kind is meant, and which fact is wanted.",
    )


def _no_sources(request: Request, call: _Call) -> Refusal | None:
    if call.asker.role != "Searcher":
        return None
    unknown = [i for i in request.source_ids if i not in call.asker.known_sources]
    if unknown:
        return Refusal(
            "unknown_source",
            f"There is no fetched page {', '.join(_shown(i) for i in unknown[:5])}. Fetch it first, or name a page you fetched.",
        )
    if not request.source_ids:
        return Refusal(
            "no_sources",
            'Say in `source_ids` which fetched pages are to be read, for instance ["S1"]. Fetch a page first if there is none.',
        )
    return None


def _duplicate(request: Request, call: _Call) -> Refusal | None:
    if any(_key(other.name) == _key(request.name) for other in call.accepted):
        return Refusal(
            "duplicate",
            "This call asks twice for a task of this name. Leave one out, or give them names that tell their subjects apart.",
            request.name,
        )
    earlier = next((task for task in call.asker.earlier if _key(task.name) == _key(request.name)), None)
    if earlier is None or earlier.state in {"failed", "refused"} or request.name in call.asker.retry:
        return None
    how = (
        "It is still under way; wait for its result."
        if earlier.state in {"queued", "running"}
        else "Use its result, or ask for another subject."
    )
    return Refusal("duplicate", f"The task `{_shown(request.name)}` was given out before. {how}", earlier.name)


def _renamed(request: Request, call: _Call) -> Refusal | None:
    known_names = {_key(task.name) for task in call.asker.earlier}
    if _key(request.name) in known_names:
        return None
    # One question to several pages is as many readings, not one task renamed.
    twin = next((o.name for o in call.accepted if same_task(o, request) and not _other_pages(o, request)), "")
    # What was read before anything was asked for, such as seeds under the question's own words, was given out by nobody.
    given_out = [task for task in call.asker.earlier if task.state != "refused" and task.role == DELEGATES[call.asker.role]]
    twin = twin or next((task.name for task in given_out if same_task(task, request)), "")
    if not twin:
        return None
    return Refusal(
        "renamed",
        f"This is the task `{_shown(twin)}` under another name. To try that one again, use its own name; "
        "for something else, name the subject that sets it apart (which place, time, product or person).",
        twin,
    )


def _other_pages(one: Request, other: Request) -> bool:
    return bool(one.source_ids or other.source_ids) and not set(one.source_ids) & set(other.source_ids)


def _no_rounds(_: Request, call: _Call) -> Refusal | None:
    if call.limits.rounds_left is None or call.limits.rounds_left > 0:
        return None
    return Refusal("no_rounds", "All rounds of research are used up. Finish with what was found; what is missing will be named as a gap.")


def _over_round_cap(_: Request, call: _Call) -> Refusal | None:
    cap = call.limits.round_cap
    if cap is None or len(call.accepted) < cap:
        return None
    return Refusal("round_cap", f"One call may give out {cap} tasks. Ask for the rest in your next call, the most important first.")


def _over_specialist_cap(_: Request, call: _Call) -> Refusal | None:
    cap = call.limits.specialist_cap
    role = DELEGATES[call.asker.role]
    used = sum(task.role == role and task.state != "refused" for task in call.asker.earlier) + len(call.accepted)
    if cap is None or used < cap:
        return None
    return Refusal("specialist_cap", f"You have given out {used} tasks, and {cap} is the limit. Finish with what was found.")


RULES: tuple[Rule, ...] = (
    _may_not_delegate,
    _wrong_role,
    _missing_name,
    _missing_subject,
    _no_sources,
    _duplicate,
    _renamed,
    _no_rounds,
    _over_specialist_cap,
    _over_round_cap,
)


def _key(name: str) -> str:
    return " ".join(name.casefold().split())


def _shown(text: str) -> str:
    """A name as it may stand in a reason: one line, no back quotes, 80 characters."""
    return " ".join(text.replace("`", "'").split())[:80]
