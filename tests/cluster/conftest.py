"""Hosts for the tests marked `cluster`; hosts.py explains them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .hosts import Cluster


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A fresh pair of hosts, a and b, to break."""
    with Cluster(tmp_path / "cluster") as hosts:
        yield hosts


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A healthy pair of hosts, a and b, that all tests share: nobody breaks it."""
    with Cluster(tmp_path_factory.mktemp("pair")) as hosts:
        yield hosts
