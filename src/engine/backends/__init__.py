"""Where answers come from: Ollama, OpenAI-compatible servers, or the built-in backend without a model."""
