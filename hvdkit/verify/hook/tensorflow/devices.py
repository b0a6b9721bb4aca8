"""What a script finds when it has imported TensorFlow: functions that run eagerly, kernels that repeat, and
as many devices as the run has replicas.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import tensorflow as tf
from tensorflow.python.distribute.mirrored_strategy import MirroredStrategy

from hvdkit.verify.hook.settings import Settings


def prepare(settings: Settings) -> None:
    """Runs before TensorFlow has looked at the devices."""
    if settings.cpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
    tf.config.run_functions_eagerly(True)
    tf.config.experimental.enable_op_determinism()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    if settings.replicas > 1:
        _make_devices(settings.replicas)


def _make_devices(count: int) -> None:
    """Divide the CPU, and give all of it to every strategy, whatever devices it names."""
    processor = tf.config.list_physical_devices("CPU")[0]
    part = tf.config.LogicalDeviceConfiguration()
    tf.config.set_logical_device_configuration(processor, [part] * count)
    names = [f"/cpu:{number}" for number in range(count)]
    build = MirroredStrategy.__init__

    @functools.wraps(build)
    def init(self: Any, devices: Any = None, cross_device_ops: Any = None) -> None:
        build(self, names, cross_device_ops)

    MirroredStrategy.__init__ = init
    for module in (tf.distribute, tf.distribute.experimental):
        module.MultiWorkerMirroredStrategy = Workers


class Workers(MirroredStrategy):  # type: ignore[misc]
    """MultiWorkerMirroredStrategy, its workers being the devices of this process: the sum is the same."""

    def __init__(self, cluster_resolver: Any = None, communication_options: Any = None) -> None:
        super().__init__()

    @property
    def cluster_resolver(self) -> Any:
        """One worker, which is the chief."""
        cluster = tf.train.ClusterSpec({"worker": ["localhost:0"]})
        return tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, task_type="worker", task_id=0)
