"""`python -m hvdkit` is `hvdkit`."""

from hvdkit.cli import run

run()
