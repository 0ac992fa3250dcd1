"""A vault with a seam, and notes to send through it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from deepdelve.core.records import ClaimCounts
from deepdelve.engine.bounded.models import Page
from deepdelve.engine.vault import store
from deepdelve.engine.vault.layout import Vault
from deepdelve.engine.vault.seam import IngestSeam
from deepdelve.engine.vault.sources import Reference, note
from deepdelve.engine.vault.transaction import Step, no_step
from tests.engine.bounded.kit import Bench, bench

BODY = "# Tides\n\nThe difference between high and low water in the northern bay is 4.2 metres on average. [1]\n"


class Shelf:
    """One vault and its database."""

    def __init__(self, made: Bench) -> None:
        self.bench = made
        self.vault: Vault = made.vault
        self.database = made.database

    def seam(self, step: Step = no_step) -> IngestSeam:
        return IngestSeam(self.vault, self.database, step)

    def raw(self, name: str = "deep-research-1", topic: str = "Tides of the bay", body: str = BODY) -> Path:
        reference = Reference(1, "Tides", "https://tides.example/bay", "0" * 64)
        return self.vault.write_raw(
            note(name, name.removeprefix("deep-research-"), topic, body, [reference], ClaimCounts(supported=1), "converged")
        )

    def ingest(self, name: str = "deep-research-1", topic: str = "Tides of the bay", body: str = BODY):
        return self.seam().ingest_file(self.raw(name, topic, body))

    @property
    def version(self) -> int:
        with self.database.transaction() as session:
            return store.data_version(session, self.vault.id)

    def rows(self) -> list[Page]:
        with self.database.transaction() as session:
            return list(session.scalars(sa.select(Page).order_by(Page.path)).all())

    def file(self, relative: str) -> Path:
        return self.vault.root / relative


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    with bench() as made:
        yield Shelf(made)
