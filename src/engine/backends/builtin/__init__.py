"""The built-in backend: answers as every role by rule, without a model. What it writes is taken from sources, sentence by sentence."""
