"""The description of the API, as it is kept in ``docs/openapi.json``."""

import json

from deepdelve.api.server import create_app
from deepdelve.config import Settings


def openapi_text() -> str:
    """The OpenAPI description as JSON, the same on every machine."""
    return json.dumps(create_app(Settings()).openapi(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
