"""Bounded vault research: one counted loop over SearXNG with frozen bounds, and its ledger."""
