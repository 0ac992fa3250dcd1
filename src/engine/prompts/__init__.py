"""One prompt file a role."""
