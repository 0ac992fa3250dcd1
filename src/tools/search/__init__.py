"""Search backends behind one protocol."""
