"""For tests of what scripts do: their ranks are forked from processes that have imported the framework.

Launchers are the real ones. Tests of launchers start the real Python as well.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from hvdkit.launch.horovodrun import UNCHECKED
from hvdkit.verify.warm.pool import warm_python

TORCHRUN = "torch.distributed.run"


def forked(command: Sequence[str], environment: Mapping[str, str], framework: str = "torch") -> list[str]:
    """A command with what forks ranks in the place of this Python, in torchrun's ranks as well."""
    python = warm_python(dict(environment), framework)
    launcher = len(UNCHECKED) if [*command[: len(UNCHECKED)]] == [*UNCHECKED] else 0
    ranks = (python if word == sys.executable else [word] for word in command[launcher:])
    words = [*command[:launcher], *(part for parts in ranks for part in parts)]
    if TORCHRUN not in command:
        return words
    script = next(place for place, word in enumerate(words) if word.endswith(".py") and word not in python)
    return [*words[:script], "--no-python", *python, *words[script:]]
