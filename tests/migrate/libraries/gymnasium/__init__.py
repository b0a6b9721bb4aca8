"""As much of gymnasium as the programs of these tests need: a walk that its own generator drives."""

import random


class Walk:
    """Observations are two numbers; an action moves the first."""

    def reset(self, seed=None):
        self._random = random.Random(seed)
        self._at = [self._random.random(), 0.0]
        return list(self._at), {}

    def step(self, action):
        self._at = [self._at[0] + action - 0.5, self._random.random()]
        return list(self._at), -abs(self._at[0]), False, False, {}


def make(name):
    assert name == "Walk-v0"
    return Walk()
