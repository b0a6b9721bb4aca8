"""`python -m hvdkit` is `hvdkit`, once the current folder is off the path: `-m` puts it first."""

import os
import sys

if sys.path[:1] == [os.getcwd()]:  # noqa: PTH109 - os is there before any path; pathlib would be searched for
    del sys.path[0]

from hvdkit.cli import run

run()
