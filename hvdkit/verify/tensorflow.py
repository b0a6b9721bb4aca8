"""What is told about TensorFlow programs in other words than about PyTorch's: rules, causes and notes."""

from __future__ import annotations

from dataclasses import replace

from hvdkit.verify.cause import Cause
from hvdkit.verify.invariants import Causes

# The rules that say the same of TensorFlow.
RULES = {
    "HVD301": "HVD710",
    "HVD302": "HVD710",
    "HVD401": "HVD712",
    "HVD402": "HVD714",
    "HVD403": "HVD721",
    "HVD601": "HVD718",
}
CAUSES = Causes(
    start=Cause(
        "HVD714",
        "send rank 0's variables to all: BroadcastGlobalVariablesCallback(0) in fit, broadcast "
        "after the first step of a loop",
    ),
    later=Cause(
        "HVD712",
        "no average over the ranks: DistributedOptimizer for fit, DistributedGradientTape in a loop; under "
        "Keras 3 hvdkit's, since Horovod's own optimizer reduces nothing there",
    ),
    shard=Cause(
        "HVD710", "shard the training data by Horovod's rank and size, before it is shuffled and batched"
    ),
    order=Cause(
        "HVD710",
        "reshuffle in each epoch: shuffle(..., reshuffle_each_iteration=True), not before cache()",
    ),
    rate=Cause("HVD721", "scale the learning rate once, by hvd.size()"),
    state=Cause(
        "HVD714",
        "ranks hold different state beside what they train: broadcast rank 0's once it is restored "
        "(hvd.broadcast_variables of the optimizer's variables, too)",
    ),
    steps=Cause(
        "HVD711",
        "an epoch passes over the data once for each rank: divide steps_per_epoch by hvd.size()",
    ),
    batch=Cause(
        "HVD709", "give each rank's data the original's batch size, or that divided by hvd.size(), once"
    ),
    metric=Cause(
        "HVD715",
        "each rank decides by its own metrics: average them before, by MetricAverageCallback as the first of "
        "the callbacks that look at them",
    ),
    writer=Cause("HVD718", "write files on rank 0 only, and pass callbacks that write on rank 0 only"),
)
EAGER = "every tf.function ran eagerly, in both scripts: code that XLA cannot compile is not detected"
REPLAYED = (
    "the original is one process: on 1 rank its batches were replayed in the migrated run and the random "
    "state set at each batch and tape in both (a sharded dataset is shuffled in a different order)"
)
DIVIDED = (
    "the original's strategy ran on {0} logical CPU devices: each rank of the migrated run was given the "
    "batches of one device, started from the same seed, and was compared with it"
)


def named(cause: Cause) -> Cause:
    """The cause with the rule for TensorFlow."""
    return replace(cause, rule=RULES.get(cause.rule, cause.rule))
