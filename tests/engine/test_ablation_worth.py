"""Each remedy and each pass is worth something: without it, a fault that it is there for costs the reader more."""

import pytest

from deepdelve.engine.ablation import PASSES as ALL_PASSES
from deepdelve.engine.ablation import pass_switch
from deepdelve.engine.completion.remedies import REMEDIES as ALL_REMEDIES
from tests.support.help_faults import PASSES, REMEDIES, HelpFault


@pytest.mark.parametrize("fault", [*REMEDIES, *PASSES], ids=lambda fault: fault.switch)
async def test_without_it_more_is_lost(fault: HelpFault, tmp_path):
    helped = await fault.run(tmp_path / "on", on=True)
    alone = await fault.run(tmp_path / "off", on=False)
    assert not fault.lost(helped)
    assert fault.lost(alone)


def test_every_remedy_and_every_pass_has_its_fault():
    assert {fault.switch for fault in REMEDIES} == {f"disable_remedy_{name}" for name in ALL_REMEDIES}
    assert {fault.switch for fault in PASSES} == {pass_switch(name) for name in ALL_PASSES}
