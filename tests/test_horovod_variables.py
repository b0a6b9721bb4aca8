"""Horovod's variables: every name that the installed Horovod has is known."""

from __future__ import annotations

import re
from importlib.metadata import files
from pathlib import Path

from hvdkit.horovod_variables import JOB, unknown
from hvdkit.install.ignored import BUILD

# Constants of Horovod's code that look like variables.
_CODE = re.compile(
    r"HOROVOD_(U?INT\d+|FLOAT\d+|BFLOAT\d+|BOOL|BYTE|PROCESS_SET_ERROR_\w+|SECRET_KEY|\w*_VERSION)"
)


def test_every_variable_that_the_runner_and_the_library_read_is_known() -> None:
    found = set()
    for file in files("horovod") or ():
        path = Path(file.locate())  # type: ignore[arg-type]
        if path.suffix == ".so" or (path.suffix == ".py" and "runner" in path.parts):
            pattern = (
                rb"['\"](HOROVOD_[A-Z0-9_]+)['\"]" if path.suffix == ".py" else rb"\0(HOROVOD_[A-Z0-9_]+)\0"
            )
            found |= {name.decode() for name in re.findall(pattern, path.read_bytes())}
    assert len(found) > 30
    assert {name for name in found if not _CODE.fullmatch(name)} - JOB - BUILD == set()


def test_a_misspelt_one_is_named_with_the_nearest() -> None:
    assert unknown({"HOROVOD_CYCEL_TIME": "1", "HOROVOD_CYCLE_TIME": "1", "PATH": ""}, BUILD) == {
        "HOROVOD_CYCEL_TIME": "Horovod 0.28.1 has no such variable; did you mean HOROVOD_CYCLE_TIME?"
    }
