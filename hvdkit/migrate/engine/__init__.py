"""From paths to a plan: files are read, rules find, edits are merged, and the result is proven stable.

Nothing is written. stages names each reason to start over; rewriting makes the text of one file.
"""

from hvdkit.migrate.engine.checking import RuleFailed, run_rules
from hvdkit.migrate.engine.passes import Pass, passes, run_pass
from hvdkit.migrate.engine.plans import make_plan, unopened, unreadable

__all__ = ["Pass", "RuleFailed", "make_plan", "passes", "run_pass", "run_rules", "unopened", "unreadable"]
