"""The completion check: one table, one schedule, one remedy at a time."""
