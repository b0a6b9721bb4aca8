"""docs/torch.md: every example runs, says what is true, and no helper is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pages import examples, run

PAGE = Path(__file__).parents[2] / "docs" / "torch.md"


@pytest.mark.ranks
def test_the_examples_run_in_order(shared_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shared_path)
    names: dict[str, Any] = {}
    for first_line, source in examples(PAGE):
        run(PAGE, source, first_line, names)
    assert names["start"] == 4, "the page was run to its end"


def test_every_helper_is_on_the_page() -> None:
    import hvdkit.torch as hvd

    ours = [
        name
        for name, value in vars(hvd).items()
        if callable(value) and getattr(value, "__module__", "").startswith("hvdkit.torch.") and name[0] != "_"
    ]
    assert len(ours) > 20
    shown = "".join(source for _, source in examples(PAGE))
    errors = {"HorovodMissingError", "FailedElsewhereError", "Context", "require_horovod"}
    assert [name for name in ours if name not in errors and f"hvd.{name}(" not in shown] == []
