"""Headers that TensorFlow has moved, in a package of the test's own and with a real compiler."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.install import build, headers
from tests.install import plans

ASKED = "tensorflow/compiler/xla/client/xla_builder.h"
MOVED = "xla/hlo/builder/xla_builder.h"
SOURCE = f"""\
#include "{ASKED}"
#include <farmhash.h>
#include "highwayhash/arch_specific.h"
int sum = builder + farm + highway;
"""


def package(root: Path, builder: str) -> Path:
    """The include folder of a TensorFlow that has XLA's header at `builder`."""
    for name, text in (
        (builder, "const int builder = 1;\n"),
        ("external/farmhash_archive/src/farmhash.h", "const int farm = 2;\n"),
        ("external/highwayhash/highwayhash/arch_specific.h", "const int highway = 3;\n"),
    ):
        file = root / "include" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root / "include"


def compiles(include: Path, environment: dict[str, str]) -> bool:
    command = ["g++", "-fsyntax-only", f"-I{include}", "-x", "c++", "-"]
    answer = subprocess.run(
        command, input=SOURCE, env=environment, capture_output=True, text=True, check=False
    )
    return answer.returncode == 0


@pytest.mark.parametrize("builder", [ASKED, MOVED])
def test_what_horovod_includes_is_found(builder: str, tmp_path: Path) -> None:
    include = package(tmp_path / "tensorflow", builder)
    framework = replace(plans.TENSORFLOW, root=tmp_path / "tensorflow")
    texts = headers.forwarding((framework,))
    assert list(texts) == ([] if builder == ASKED else [f"include/{ASKED}"])
    plan = replace(plans.make((framework,)), toolchain=texts)
    folder = tmp_path / "build"
    folder.mkdir()
    assert not compiles(include, dict(os.environ))
    assert compiles(include, build._build_environment(plan, folder, os.environ))


def test_a_persons_own_folders_come_last(tmp_path: Path) -> None:
    package(tmp_path, MOVED)
    plan = plans.make((replace(plans.TENSORFLOW, root=tmp_path),))
    made = build._build_environment(plan, tmp_path, {"PATH": os.defpath, "CPLUS_INCLUDE_PATH": "/own"})
    assert made["CPLUS_INCLUDE_PATH"].endswith(":/own")


def test_nothing_is_added_where_nothing_is_missing(tmp_path: Path) -> None:
    made = build._build_environment(plans.make((plans.TORCH,)), tmp_path, {"PATH": os.defpath})
    assert "CPLUS_INCLUDE_PATH" not in made
