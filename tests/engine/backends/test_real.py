"""A trial with a real model, where a person names its server in ``DEEPDELVE_TEST_BASE_URL``."""

import os

import pytest

from deepdelve.engine.backends.doctor import doctor
from tests.engine.backends.kit import settings_for
from tests.support.scripted import ScriptedFactory

BASE_URL = os.environ.get("DEEPDELVE_TEST_BASE_URL", "")


@pytest.mark.skipif(not BASE_URL, reason="no server is named in DEEPDELVE_TEST_BASE_URL")
@pytest.mark.timeout(600)
async def test_a_real_model_is_examined_to_the_end():
    settings = settings_for(backend="openai", openai_base_url=BASE_URL, openai_model=os.environ.get("DEEPDELVE_TEST_MODEL", ""), idle=120)
    found = {finding.name: finding for finding in await doctor(settings, builtin=lambda: ScriptedFactory({}), thorough=False)}
    assert found["server"].ok, found["server"]
    assert found["tools"].ok, found["tools"]
