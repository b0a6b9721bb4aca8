"""The main process goes first, and what fails there fails everywhere."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

import hvdkit.torch as hvd
from hvdkit.torch.agreement import together

pytestmark = pytest.mark.ranks


@pytest.mark.parametrize("local", [False, True])
def test_the_first_prepares_and_the_others_find_it(shared_path: Path, local: bool) -> None:
    prepared = shared_path / "data"
    with hvd.main_process_first(local=local):
        found = prepared.exists()
        prepared.touch()
    assert hvd.allgather_object(found, name="found") == [False, True]


def test_failure_of_the_first_is_raised_on_all() -> None:
    ran, seen = False, ""
    try:
        with hvd.main_process_first():
            ran = True
            raise ConnectionError("no route to the data")
    except (ConnectionError, hvd.FailedElsewhereError) as error:
        seen = f"{type(error).__name__}: {error}"
    zero, one = hvd.allgather_object((ran, seen), name="seen")
    assert zero == (True, "ConnectionError: no route to the data")
    assert not one[0], "the others do not run the block"
    assert "main_process_first failed on rank 0: ConnectionError: no route to the data" in one[1]


def test_failure_on_any_rank_is_raised_on_all() -> None:
    seen = ""
    with suppress(KeyError):
        try:
            with together("work"):
                if hvd.rank() == 1:
                    raise KeyError("lost")
        except hvd.FailedElsewhereError as error:
            seen = error.seen
    assert hvd.allgather_object(seen, name="seen") == ["work failed on rank 1: KeyError: 'lost'", ""]
