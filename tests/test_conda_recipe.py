"""conda/meta.yaml, filled in as conda-build does it: what it says is what the project's own files say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment, StrictUndefined
from packaging.requirements import Requirement

from hvdkit import __version__

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "conda"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def load_file_data(load_file: str, *, from_recipe_dir: bool) -> dict[str, Any]:
    """As conda-build gives it to recipes."""
    assert from_recipe_dir
    return tomllib.loads((FOLDER / load_file).read_text(encoding="utf-8"))


def load_file_regex(load_file: str, regex_pattern: str, *, from_recipe_dir: bool) -> re.Match[str] | None:
    """As conda-build gives it to recipes."""
    assert from_recipe_dir
    return re.search(regex_pattern, (FOLDER / load_file).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def recipe() -> dict[str, Any]:
    template = Environment(undefined=StrictUndefined).from_string(
        (FOLDER / "meta.yaml").read_text(encoding="utf-8")
    )
    text = template.render(load_file_data=load_file_data, load_file_regex=load_file_regex, PYTHON="python")
    filled: dict[str, Any] = yaml.safe_load(text)
    return filled


def specifiers(requirements: list[str]) -> dict[str, str]:
    """Versions by name, of conda's `rich >=13` as of pip's `rich>=13`."""
    parts = (Requirement(each.partition(";")[0]) for each in requirements)
    return {part.name: str(part.specifier) for part in parts}


def test_the_package(recipe: dict[str, Any]) -> None:
    assert recipe["package"] == {"name": "hvdkit", "version": __version__}
    assert (FOLDER / recipe["source"]["path"]).resolve() == ROOT
    assert recipe["about"]["license"] == "Apache-2.0"
    assert (ROOT / recipe["about"]["license_file"]).exists()


def test_dependencies_are_those_of_pyproject(recipe: dict[str, Any]) -> None:
    project = PROJECT["project"]
    python = {"python": project["requires-python"]}
    run = specifiers(recipe["requirements"]["run"])
    assert run == {**python, **specifiers(project["dependencies"])}
    assert len(run) > 3
    host = specifiers(recipe["requirements"]["host"])
    assert host == {**python, "pip": "", **specifiers(PROJECT["build-system"]["requires"])}


def test_the_program_is_that_of_pyproject(recipe: dict[str, Any]) -> None:
    assert recipe["build"]["entry_points"] == ["hvdkit = hvdkit.cli:run"]
    assert PROJECT["project"]["scripts"] == {"hvdkit": "hvdkit.cli:run"}


def test_its_tests_pass(recipe: dict[str, Any]) -> None:
    for module in recipe["test"]["imports"]:
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    assert len(recipe["test"]["commands"]) == 3
    for command in recipe["test"]["commands"]:
        program, *arguments = command.split()
        assert program == "hvdkit"
        subprocess.run([sys.executable, "-m", program, *arguments], check=True, stdout=subprocess.DEVNULL)
