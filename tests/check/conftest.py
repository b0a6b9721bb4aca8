"""What the tests inside a job share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from check_ranks import Turns


@pytest.fixture
def turns(tmp_path: Path) -> Turns:
    """One order of events between two ranks."""
    import horovod.torch as hvd
    from check_ranks import Turns

    return Turns(Path(hvd.broadcast_object(str(tmp_path), root_rank=0, name="turns")))
