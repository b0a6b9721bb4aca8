"""How a rank of a run says that it has begun: what comes before is imports, rendezvous and reading data."""

from __future__ import annotations

import os

from hvdkit.verify.hook.settings import Settings

BEGUN = "begun"  # the folder of the record with a file for each process that has begun
LOADED = "loaded.json"  # of it: what a script that is run as one process has loaded until it trains


def mark_begun(settings: Settings) -> None:
    """This process has made an optimizer: from here on it counts as hung where no step comes."""
    folder = settings.path / BEGUN
    folder.mkdir(exist_ok=True)
    (folder / str(os.getpid())).touch()
