"""docker/ by the linters of its languages, and its versions against those that are written elsewhere."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import hvdkit

from .lint import lint

_ROOT = Path(__file__).parents[2]
_DOCKER = _ROOT / "docker"


def test_the_dockerfile_passes_hadolint() -> None:
    assert lint(_DOCKER / "Dockerfile") == ""


def test_a_rule_that_is_broken_is_found(tmp_path: Path) -> None:
    broken = tmp_path / "Dockerfile"
    broken.write_text("FROM debian\nRUN cd /tmp && apt-get install make\n")
    found = lint(broken)
    assert "DL3006" in found and "DL3003" in found


def test_no_waiver_without_a_reason() -> None:
    lines = (_DOCKER / "Dockerfile").read_text().splitlines()
    waivers = [number for number, line in enumerate(lines) if "hadolint ignore" in line]
    assert waivers
    for number in waivers:
        assert re.match(r"# [A-Z].*\.$", lines[number - 1]), f"line {number + 1}"


def test_the_script_passes_shellcheck() -> None:
    done = subprocess.run(
        ["shellcheck", _DOCKER / "hvdkit-sshd"], capture_output=True, text=True, check=False
    )
    assert done.stdout == ""


def test_versions_are_those_of_this_project() -> None:
    torch = re.search(r'^TORCH="(.*)"$', (_ROOT / "scripts" / "setup").read_text(), re.MULTILINE)
    assert torch is not None
    assert torch.group(1) in (_DOCKER / "versions.txt").read_text().splitlines()
    assert f'image.version="{hvdkit.__version__}"' in (_DOCKER / "Dockerfile").read_text()
