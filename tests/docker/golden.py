"""What `hvdkit docker` makes of three projects, kept beside them: a script, a package, a notebook.

    python -m tests.docker.golden COMPOSE_SPEC MPI_OPERATOR TRAINING_OPERATOR

writes the files anew after a change of hvdkit, and records which published schemas found them valid. The
arguments are checkouts of github.com/compose-spec/compose-spec, kubeflow/mpi-operator and
kubeflow/training-operator (its v1.9.0 is taken: the last with PyTorchJob). The schemas are theirs
and not kept here.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from hvdkit.cli import main

FOLDER = Path(__file__).parent
PROJECTS = FOLDER / "projects"
GOLDEN = FOLDER / "golden"
VALIDATED = FOLDER / "validated.json"

# The command lines, in the project's folder; some arguments hold what Compose or Kubernetes would replace.
COMMANDS = {
    "script": ["train.py", "--kubernetes", "--", "--epochs", "2"],
    "package": [
        *("src/digits/train.py", "--kubernetes", "--gpu", "-np", "8", "--output", "deploy"),
        *("--image", "registry.example.org:5000/team/digits:1", "--", "$HOME", "$(PATH)"),
    ],
    "notebook": ["train.ipynb", "-np", "2", "--containers", "1", "--kubernetes"],
}
# Which schema a file is valid by: its place in a checkout, and the version where it holds several.
_CRDS = {
    "mpijob.yaml": ("mpi-operator", "deploy/v2beta1/mpi-operator.yaml", "v2beta1"),
    "pytorchjob.yaml": ("training-operator", "manifests/base/crds/kubeflow.org_pytorchjobs.yaml", "v1"),
}
_COMPOSE = ("compose-spec", "schema/compose-spec.json", "")


@contextmanager
def generated(project: str, folder: Path, *options: str) -> Iterator[tuple[int, dict[str, str]]]:
    """A copy of a project in `folder`, entered, and what the command makes there: exit code, text by path."""
    here = Path.cwd()
    copy = folder / project
    shutil.copytree(PROJECTS / project, copy)
    before = set(copy.rglob("*"))
    os.chdir(copy)
    try:
        code = main(["docker", *options, *COMMANDS[project]])
        new = set(copy.rglob("*")) - before
        made = sorted(path for path in new if path.is_file() and ".hvdkit" not in path.parts)
        yield code, {str(path.relative_to(copy)): path.read_text(encoding="utf-8") for path in made}
    finally:
        os.chdir(here)


def golden(project: str) -> dict[str, str]:
    """The files that are kept, by the path that the command gives them."""
    root = GOLDEN / project
    return {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def digest(text: str) -> str:
    """Of a generated file without its comments, which no schema sees."""
    return hashlib.sha256(json.dumps(yaml.safe_load(text), sort_keys=True).encode()).hexdigest()


def renew() -> None:
    checkouts = dict(zip(("compose-spec", "mpi-operator", "training-operator"), map(Path, sys.argv[1:4])))
    shutil.rmtree(GOLDEN, ignore_errors=True)
    record: dict[str, Any] = {}
    for project in COMMANDS:
        with tempfile.TemporaryDirectory() as scratch, generated(project, Path(scratch)) as (_, texts):
            for name, text in texts.items():
                file = GOLDEN / project / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
                if file.suffix == ".yaml":
                    record[f"{project}/{name}"] = {"sha256": digest(text), **_validate(file, checkouts)}
    VALIDATED.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def _validate(file: Path, checkouts: Mapping[str, Path]) -> dict[str, str]:
    """The schema that a file is valid by. Raises: jsonschema.ValidationError."""
    name, place, version = _CRDS.get(file.name, _COMPOSE)
    git = ["git", "-C", str(checkouts[name])]
    commit = "v1.9.0" if name == "training-operator" else "HEAD"
    text = subprocess.run(
        [*git, "show", f"{commit}:{place}"], capture_output=True, text=True, check=True
    ).stdout
    number = subprocess.run(
        [*git, "rev-parse", f"{commit}^{{commit}}"], capture_output=True, text=True, check=True
    )
    schema = _resource_schema(text, version) if version else json.loads(text)
    jsonschema.validate(yaml.safe_load(file.read_text(encoding="utf-8")), schema)
    return {"schema": place, "of": name, "commit": number.stdout.strip()}


def _resource_schema(text: str, version: str) -> Any:
    """The schema of one version of a custom resource, unknown fields refused as kubectl refuses them."""
    documents = yaml.safe_load_all(text)
    resource = next(d for d in documents if d and d["kind"] == "CustomResourceDefinition")
    versions = resource["spec"]["versions"]
    schema = next(v["schema"]["openAPIV3Schema"] for v in versions if v["name"] == version)
    return _strict({**schema, "properties": {**schema["properties"], "metadata": {}}})


def _strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _strict(part) for key, part in schema.items()}
    if made.get("x-kubernetes-int-or-string"):
        made["type"] = ["integer", "string"]
    elif "properties" in made and isinstance(made.get("type"), str):
        made.setdefault("additionalProperties", False)
    return made


if __name__ == "__main__":
    renew()
