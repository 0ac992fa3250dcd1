"""Measurements run by hand; none of them is part of the product or of its tests."""
