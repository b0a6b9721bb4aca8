"""The table in the docs is what the script makes of the recorded results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def test_the_page_shows_the_recorded_results() -> None:
    script = [sys.executable, str(REPOSITORY / "scripts" / "install-table")]
    table = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    assert table.count("\n") > 3
    page = (REPOSITORY / "docs" / "install.md").read_text(encoding="utf-8")
    assert f"<!-- install-table -->\n{table}<!-- end -->" in page
