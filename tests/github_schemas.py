"""What GitHub's own JSON Schemas say of its files, by check-jsonschema, which contains them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def violations(schema: str, *files: Path) -> str:
    """What a schema does not allow; "" where it accepts the files."""
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        f"vendor.{schema}",
        *map(str, files),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""
