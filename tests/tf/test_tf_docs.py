"""docs/tensorflow.md: every example runs, says what is true, and no helper is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pages import examples, run

PAGE = Path(__file__).parents[2] / "docs" / "tensorflow.md"


@pytest.mark.ranks
def test_the_examples_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hvdkit.tensorflow as hvd

    shared = hvd.broadcast_object(str(tmp_path), root_rank=0, name="docs")
    monkeypatch.chdir(shared)
    names: dict[str, Any] = {}
    for first_line, source in examples(PAGE):
        run(PAGE, source, first_line, names)
    losses = hvd.allgather_object(float(names["loss"]))
    weights = hvd.allgather_object([array.tolist() for array in names["model"].get_weights()])
    assert losses[0] != losses[1], "each rank has data of its own"
    assert weights[0] == weights[1]


@pytest.mark.ranks
def test_every_helper_is_on_the_page() -> None:
    import hvdkit.tensorflow
    import hvdkit.tensorflow.keras

    ours = {
        name
        for module in (hvdkit.tensorflow, hvdkit.tensorflow.keras)
        for name, value in vars(module).items()
        if callable(value)
        and name[0] != "_"
        and (getattr(value, "__module__", "") or "").startswith(("hvdkit.tensorflow.", "hvdkit.keras."))
    }
    assert len(ours) > 14
    shown = "".join(source for _, source in examples(PAGE))
    silent = {"HorovodMissingError", "KerasMissingError", "Context"}
    silent |= {"require_horovod", "require_keras_on_tensorflow"}
    assert sorted(name for name in ours - silent if f"hvd.{name}(" not in shown) == []
