"""Readers of document types: bytes in, ``Extracted`` out; they import nothing that fetches."""
