"""The steps by which the ledger's tables came to be, run by Alembic when a ledger is opened."""
