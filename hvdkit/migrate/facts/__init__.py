"""What the program is: a read-only pass over a whole project that rules look at."""

from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.options import Options

__all__ = ["Facts", "Options", "Site"]
