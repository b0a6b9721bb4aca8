"""Which of the project's own classes stand for DataLoader."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import indent

import pytest

from hvdkit.migrate.values.flow import Flow
from hvdkit.migrate.values.loader_classes import is_loader
from hvdkit.source.project.opening import open_project

STANDS = {
    "no __init__": "def __iter__(self):\n    return ahead(super().__iter__())",
    "everything is handed on": (
        "def __init__(self, *args, **kwargs):\n    super().__init__(*args, **kwargs)\n    self.ahead = 2"
    ),
    "with the class named": (
        "def __init__(self, *args, **kwargs):\n    DataLoader.__init__(self, *args, **kwargs)"
    ),
    "with super of the class": (
        "def __init__(self, *args, **kwargs):\n    super(Own, self).__init__(*args, **kwargs)"
    ),
    "one of its own by keyword": (
        "def __init__(self, *args, ahead=2, **kwargs):\n    super().__init__(*args, **kwargs)"
    ),
    "one of its own, and keywords": (
        "def __init__(self, local_rank, **kwargs):\n    super().__init__(**kwargs)"
    ),
    "an argument that divides nothing": (
        "def __init__(self, *args, **kwargs):\n    super().__init__(*args, pin_memory=True, **kwargs)"
    ),
}
IS_ITS_OWN = {
    "its own sampler": (
        "def __init__(self, *args, **kwargs):\n    super().__init__(*args, sampler=draw(), **kwargs)"
    ),
    "its own data set": "def __init__(self, path, **kwargs):\n    super().__init__(read(path), **kwargs)",
    "the data set by name": "def __init__(self, dataset, **kwargs):\n    super().__init__(dataset, **kwargs)",
    "others than those given": (
        "def __init__(self, *args, **kwargs):\n    super().__init__(*args, **settings(kwargs))"
    ),
    "positions that are moved": (
        "def __init__(self, path, *args, **kwargs):\n    super().__init__(*args, **kwargs)"
    ),
    "twice": (
        "def __init__(self, *args, **kwargs):\n"
        "    super().__init__(*args, **kwargs)\n    self.other = DataLoader.__init__(*args, **kwargs)"
    ),
    "never": "def __init__(self, *args, **kwargs):\n    self.loader = DataLoader(*args, **kwargs)",
}


def stands_for_data_loader(folder: Path, body: str, bases: str = "DataLoader") -> bool:
    path = folder / "loaders.py"
    path.write_text(f"from torch.utils.data import DataLoader\nclass Own({bases}):\n{indent(body, '    ')}\n")
    project = open_project([path])
    names = project.files[path]
    (owner,) = names.of_kind(ast.ClassDef)
    return is_loader(Flow(project), names, owner)


@pytest.mark.parametrize("body", STANDS.values(), ids=STANDS)
def test_what_it_is_given_goes_to_data_loader(tmp_path: Path, body: str) -> None:
    assert stands_for_data_loader(tmp_path, body)


@pytest.mark.parametrize("body", IS_ITS_OWN.values(), ids=IS_ITS_OWN)
def test_a_class_that_divides_its_data_itself_is_no_data_loader(tmp_path: Path, body: str) -> None:
    assert not stands_for_data_loader(tmp_path, body)


@pytest.mark.parametrize("bases", ["Dataset", "DataLoader, Mixin", "make(DataLoader)"])
def test_other_classes_are_none(tmp_path: Path, bases: str) -> None:
    assert not stands_for_data_loader(tmp_path, "pass", bases)
