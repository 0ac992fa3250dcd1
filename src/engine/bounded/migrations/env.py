"""Runs the steps on the connection that the ledger hands over."""

from alembic import context

from deepdelve.engine.bounded.models import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
