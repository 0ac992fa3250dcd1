"""Pure domain code with no agent in it."""
