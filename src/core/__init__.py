"""What every room shares: records, events, errors and the one scope."""
