"""The vault of each test."""

from tests.engine.bounded.conftest import empty_database
from tests.engine.vault.kit import shelf

__all__ = ["empty_database", "shelf"]
