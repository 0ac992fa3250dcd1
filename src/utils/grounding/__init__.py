"""Grounding: what a report cites, what it claims, and whether its sources carry it. Pure functions over text."""
