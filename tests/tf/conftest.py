"""These tests need TensorFlow: scripts/test runs them in an environment for each stack that is supported."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("tensorflow") else ["test_*.py"]
