"""The table in the docs is what the script makes of the recorded results; with -s the tests print it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from hvdkit.install import report
from tests.install import plans

REPOSITORY = Path(__file__).parents[2]
RECORDS = REPOSITORY / "docs" / "install-table.json"


def test_the_page_shows_the_recorded_results() -> None:
    script = [sys.executable, str(REPOSITORY / "scripts" / "install-table")]
    table = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    print(f"\n{table}")
    records = [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]
    assert table.count("\n") == len(records) + 2, "one row a record, and none twice"
    page = (REPOSITORY / "docs" / "install.md").read_text(encoding="utf-8")
    assert f"<!-- install-table -->\n{table}<!-- end -->" in page


def test_a_record_is_what_the_command_reports() -> None:
    """Its frameworks, and of a build that fails its first error."""
    described = set(report.describe(plans.make()))
    for line in RECORDS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        assert set(record) - {"result", "seen", "fix"} <= described
        assert record["torch"] or record["tensorflow"]
        assert record["result"] in ("built", "from the cache") or record["seen"]
