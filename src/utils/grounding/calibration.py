"""The weights of the lexical verifier: a logistic model of six numbers, fitted with ``python -m benchmarks.grounding --calibrate``.

Each claim set counts alike, and each label alike within its set, so that the threshold suits balanced accuracy.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Features:
    """What the model sees of a claim and its best window."""

    coverage: float
    names: float
    pairs: float
    absent: float
    length: float

    def values(self) -> tuple[float, ...]:
        """The numbers in the order of the weights."""
        return (self.coverage, self.names, self.pairs, self.absent, self.length)


@dataclass(frozen=True)
class Weights:
    """Bias and one weight a feature."""

    bias: float
    coverage: float
    names: float
    pairs: float
    absent: float
    length: float

    def probability(self, features: Features) -> float:
        """The calibrated probability that the source carries the claim."""
        own = (self.coverage, self.names, self.pairs, self.absent, self.length)
        total = self.bias + sum(weight * value for weight, value in zip(own, features.values(), strict=True))
        return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, total))))


SHIPPED = Weights(bias=-1.294, coverage=1.002, names=0.228, pairs=1.058, absent=-0.586, length=0.247)
SUPPORTED = 0.5
PARTIAL = 0.36
