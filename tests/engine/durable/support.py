"""Runs that break off and go on, for the tests of this folder."""

import asyncio

from deepdelve.config import Settings
from deepdelve.engine import conduct, resume
from deepdelve.engine.journal import Journal
from deepdelve.utils import files
from tests.support.scripted import ScriptedFactory
from tests.support.whole_run import RecordingSurface, good_rules, start_scripted


def choosing(rules=None, made=None):
    """Stands for the choice of a backend: a scripted model."""

    async def choose(chosen, hooks):
        factory = ScriptedFactory(dict(rules or good_rules()), hooks=hooks)
        if made is not None:
            made.append(factory)
        return factory, "scripted"

    return choose


async def go_on(run_id, rules=None, settings=None):
    """Resume a run to its end. Returns its result, what the surface saw, the run and the model."""
    made = []
    surface = RecordingSurface()
    ctx = await resume.open_run(run_id, settings or Settings(), surface, choose=choosing(rules, made))
    result = await conduct.conduct(ctx)
    await ctx.services.close()
    return result, surface, ctx.run, made[0]


async def killed_at(number, corpus, monkeypatch):
    """Start a run and freeze the disk at its event of this number, as a kill does. Returns the run's id and what the surface saw."""
    surface = RecordingSurface()
    dead = False
    append, write = Journal.append, files.write_bytes_atomic

    def dying_append(self, event):
        nonlocal dead
        if dead:
            return
        append(self, event)
        if event.seq >= number:
            dead = True
            asyncio.get_running_loop().call_soon(going.stop)

    def dying_write(path, data, **kwargs):
        if not dead:
            write(path, data, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", dying_append)
        patch.setattr(files, "write_bytes_atomic", dying_write)
        going = await start_scripted(good_rules(), corpus, surface)
        await going.task
    assert dead, f"the scripted run has fewer than {number} events"
    return going.run.run_id, surface
