"""init: the context, the world of one process per device, and the names of horovod.tensorflow."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import horovod.tensorflow
import horovod.tensorflow.keras
import pytest
import tensorflow as tf

import hvdkit.keras
import hvdkit.tensorflow as hvd
import hvdkit.tensorflow.keras
from hvdkit.bootstrap.devices import NotEnoughDevicesError
from hvdkit.tensorflow.context import DevicesInUseError

pytestmark = pytest.mark.ranks


def test_the_context_says_where_this_process_is() -> None:
    context = hvd.init()
    assert (context.rank, context.size) == (hvd.rank(), 2)
    assert (context.local_rank, context.local_size) == (hvd.local_rank(), 2)
    assert context.device == "/CPU:0"
    assert hvdkit.keras.init() == context


class Gpus:
    """TensorFlow's settings of a machine with `count` GPUs, in place of the real ones."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
        self.all = [f"GPU:{index}" for index in range(count)]
        self.visible: list[Any] = self.all
        self.growing: list[Any] = []
        self.in_use = False
        monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: self.all)
        monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind: self.visible)
        monkeypatch.setattr(tf.config, "set_visible_devices", self._set_visible)
        monkeypatch.setattr(tf.config.experimental, "get_memory_growth", lambda gpu: gpu in self.growing)
        monkeypatch.setattr(tf.config.experimental, "set_memory_growth", self._grow)

    def _set_visible(self, gpu: Any, kind: str) -> None:
        if self.in_use:
            raise RuntimeError("Visible devices cannot be modified after being initialized")
        self.visible = [gpu]

    def _grow(self, gpu: Any, enable: bool) -> None:
        if self.in_use:
            raise RuntimeError("Physical devices cannot be modified after being initialized")
        self.growing.append(gpu)


def test_each_rank_sees_one_gpu_and_takes_its_memory_as_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = Gpus(monkeypatch, 2)
    device = hvd.init().device
    gpus.in_use = True
    again = hvd.init().device
    assert device == again == "/GPU:0"
    assert gpus.visible == gpus.growing == [f"GPU:{hvd.local_rank()}"]


def test_a_gpu_that_is_taken_already(monkeypatch: pytest.MonkeyPatch) -> None:
    Gpus(monkeypatch, 2).in_use = True
    with pytest.raises(DevicesInUseError, match=r"(?s)why: .*fix: call hvd.init\(\) before"):
        hvd.init()


def test_more_ranks_than_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    Gpus(monkeypatch, 3)
    monkeypatch.setattr(horovod.tensorflow, "local_size", lambda: 4)
    with pytest.raises(NotEnoughDevicesError, match="4 ranks but 3"):
        hvd.init()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(hvd, horovod.tensorflow), (hvdkit.tensorflow.keras, horovod.tensorflow.keras)],
    ids=["tensorflow", "keras"],
)
def test_every_public_name_of_horovod_is_there(ours: ModuleType, theirs: ModuleType) -> None:
    # Modules come and go as others are imported.
    names = [n for n, value in vars(theirs).items() if n[0] != "_" and not isinstance(value, ModuleType)]
    assert len(names) > 30
    assert [name for name in names if not hasattr(ours, name)] == []
