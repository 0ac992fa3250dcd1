"""Where the tests run against a database that outlives them, each begins with empty tables."""

import os

import pytest
import sqlalchemy as sa

from deepdelve.engine.bounded.database import HEAD, open_database
from deepdelve.engine.bounded.models import Base
from tests.engine.bounded.kit import UNDER_TEST


@pytest.fixture(autouse=True)
def empty_database() -> None:
    address = os.environ.get(UNDER_TEST, "")
    if not address:
        return
    made = open_database(address)
    with made.engine.begin() as connection:
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(sa.delete(table))
    made.close()


@pytest.fixture
def version_as_before() -> object:
    """A test that changes the version of the tables has it put back."""
    yield
    address = os.environ.get(UNDER_TEST, "")
    if address:
        engine = sa.create_engine(sa.make_url(address).set(drivername="postgresql+pg8000"))
        with engine.begin() as connection:
            connection.execute(sa.text(f"UPDATE alembic_version SET version_num = '{HEAD}'"))
        engine.dispose()
