"""Fetching and reading pages."""
