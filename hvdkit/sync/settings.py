"""What HVDKIT_CHECK_SYNC says."""

from __future__ import annotations

from hvdkit.errors import UsageError

VARIABLE = "HVDKIT_CHECK_SYNC"
# 1, 10, 100, ...: what goes wrong early is found early, and a long job is compared to its end.
DEFAULT = tuple(10**power for power in range(19))  # to the largest step that 64 bits count
OFF = ("", "0")


def steps_due(value: str) -> frozenset[int]:
    """The steps of each optimizer after which the ranks are compared; none where it is switched off.

    value: "" or "0" off, "1" after steps 1, 10, 100, 1,000 and so on, else steps as in "1,5,50".

    Raises UsageError for anything else.
    """
    text = value.strip()
    if text in OFF:
        return frozenset()
    if text == "1":
        return frozenset(DEFAULT)
    steps = [part.strip() for part in text.split(",")]
    if not all(step.isdecimal() and int(step) for step in steps):
        raise UsageError(
            f"{VARIABLE}={value!r}",
            why="it is neither an on/off value nor a list of steps",
            fix=f"{VARIABLE}=1 for steps 1, 10, 100 and so on, or {VARIABLE}=1,5,50",
        )
    return frozenset(map(int, steps))
