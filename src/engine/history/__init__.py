"""Search over what was asked and found before. Pure: no screen, no agent, no printing."""
