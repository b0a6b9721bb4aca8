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


def test_subnormal_numbers_have_no_half():
    """5e-324 of float64 and 1.4e-45 of float32 halved are 0: DDP halves before it adds, Horovod after."""
    import torch

    one, other = torch.tensor(2.0**-149), torch.tensor(2.0**-149)
    before, after = one / 2 + other / 2, (one + other) / 2
    apart = float((before.double() - after.double()).abs())
    assert apart and tolerance_for(2, None).covers(apart, apart / 1.0)
    assert not tolerance_for(1, None).covers(apart, apart / 1.0)
    assert not tolerance_for(2, None).covers(2.0**-126, 1e-12)


def test_the_sign_of_zero_is_no_distance():
    assert tolerance_for(1, None).covers(0.0, None)
    assert not tolerance_for(2, 0.1).covers(None, None)
