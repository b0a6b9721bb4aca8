"""How far apart two right runs may be."""

from __future__ import annotations

import pytest

from hvdkit.verify.tolerance import tolerance_for


@pytest.mark.parametrize("world", [1, 2, 4])
def test_every_bit(world):
    bar = tolerance_for(world, None)
    assert bar.relative == 0.0 and bar.reason.startswith(f"{world} rank")


def test_what_is_asked_for_wins():
    assert tolerance_for(2, 0.01).relative == 0.01
