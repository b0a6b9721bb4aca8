"""Which Keras a script says that it runs on: by the requirements beside it."""

from __future__ import annotations

import re

from hvdkit.migrate.index.names import Names

PINS = re.compile(r"^\s*(tensorflow(?:-cpu|-gpu)?|keras)\s*(==|>=|~=)\s*(\d+)\.(\d+)", re.M)
KERAS_2_PACKAGE = re.compile(r"^\s*tf[-_]keras\b", re.M)


def pinned(names: Names) -> tuple[int, str]:
    """2 or 3 and what in requirements.txt says so; 0 and "" where nothing does."""
    requirements = names.source.path.parent / "requirements.txt"
    try:
        text = requirements.read_text(encoding="utf-8") if requirements.is_file() else ""
    except (OSError, UnicodeDecodeError):
        return 0, ""
    if KERAS_2_PACKAGE.search(text):
        return 2, "requirements.txt requires tf-keras"
    for name, operator, major, minor in PINS.findall(text):
        said = f"requirements.txt requires {name} {major}.{minor}"
        if (int(major), int(minor)) >= ((3, 0) if name == "keras" else (2, 16)):
            return 3, said
        if operator != ">=":
            return 2, said
    return 0, ""
