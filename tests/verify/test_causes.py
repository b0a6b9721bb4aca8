"""Every rule that a cause names is a rule of migrate."""

from __future__ import annotations

import re
from pathlib import Path

import hvdkit.migrate.rules
import hvdkit.verify.causes
import hvdkit.verify.invariants


def test_named_rules_exist():
    rules = {
        path.name.split("_")[0].upper() for path in Path(hvdkit.migrate.rules.__path__[0]).glob("hvd*.py")
    }
    for module in (hvdkit.verify.causes, hvdkit.verify.invariants):
        named = set(re.findall(r"HVD\d+", Path(module.__file__).read_text()))
        assert named and named <= rules
