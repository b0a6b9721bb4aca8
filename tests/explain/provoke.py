"""Make the logs of tests/explain/logs again: `python tests/explain/provoke.py [CAUSE[/VARIANT] ...]`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from failures import launching, limits, own_run, programs, stacks, two_hosts  # noqa: E402
from failures.neutral import neutral  # noqa: E402

LOGS = Path(__file__).parent / "logs"
FAILURES = [
    failure for kind in (programs, own_run, launching, limits, stacks, two_hosts) for failure in kind.FAILURES
]


def main(wanted: list[str]) -> None:
    for failure in FAILURES:
        name = f"{failure.cause}/{failure.variant}"
        if wanted and not any(re.match(pattern, name) for pattern in wanted):
            continue
        print(name, file=sys.stderr, flush=True)
        path = LOGS / f"{name}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(neutral(failure.provoke()))


if __name__ == "__main__":
    main(sys.argv[1:])
