"""DeepDelve: deep research on your own machine, every claim tied to the passage that carries it."""

__version__ = "0.1.0"
