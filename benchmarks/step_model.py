"""Compare the model of a step (hvdkit/bench/model.py) with the efficiencies that Horovod has published.

    python benchmarks/step_model.py [--hosts]

Horovod's page of benchmarks (docs/benchmarks.rst of its repository, and https://arxiv.org/abs/1802.05799) has
scaling efficiencies of tf_cnn_benchmarks at batch 64 on servers with four Pascal GPUs each and a RoCE network
of 25 Gbit/s: 512 GPUs, and 128 in its earlier form. What the model is given is published, too, or assumed as
the constants below say.

--hosts (as root) measures instead: `hvdkit bench --gloo --predict 8` from four ranks on two hosts, which are
network namespaces with links of 200 Mbit/s, then eight ranks on them. Ranks sleep where a GPU would compute,
so that eight of them do not share this machine's cores. Gloo forms the ring that the model is of.

Exit code 1 where the model is 10 points or more from an efficiency at 512 GPUs, or more than 15 % from the
step of eight ranks.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hvdkit.bench.model import Network, Predicted, Work, predict

ROOT = Path(__file__).resolve().parents[1]
LIMIT_S = 900  # of a benchmark
BATCH = 64
# Each server's link carries the ring once in each direction, whatever GPUs it connects: 25 Gbit/s, unreduced.
BANDWIDTH = 25e9 / 8
# Seconds of a hop of a ring: three of four are over PCI (5.7 us), one over the network (9.6 us). NCCL itself
# reckons with these (hwLat in its src/graph/tuning.cc, ring, simple protocol; newer versions say 14.0 us).
HOP = (3 * 5.7e-6 + 9.6e-6) / 4
# Horovod's defaults of that time.
CYCLE, FUSION = 5e-3, 64 * 2**20
# Assumed: two thirds of a step are the backward pass (two products of matrices for one forward), and the
# computing of a GPU has a standard deviation of 2 % from step to step.
BACKWARD, SPREAD = 2 / 3, 0.02
GOAL, GOAL_HOSTS = 0.10, 0.15
RATE = "200mbit"
FIRST, LARGEST = 4, 8  # ranks, half of them on each host
# 5 MB of gradients in ten layers; a step without exchange takes 10 x (5 + 10) ms.
SLEEPING = """\
import time
import horovod.torch as hvd
import torch

class Computed(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        time.sleep(0.005)
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        time.sleep(0.010)
        return gradient

class Layer(torch.nn.Linear):
    def forward(self, x):
        return Computed.apply(super().forward(x))

hvd.init()
model = torch.nn.Sequential(*(Layer(354, 354) for _ in range(10)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
while True:
    optimizer.zero_grad()
    model(torch.ones(1, 354)).sum().backward()
    optimizer.step()
"""


@dataclass(frozen=True)
class Published:
    """images: a second of one GPU. layers: of each in the order of the forward pass, its parameters and its
    multiplications for one image, which say when in the backward pass its gradient is ready. efficiency: by
    number of GPUs.
    """

    images: float
    layers: Sequence[tuple[int, float]]
    efficiency: dict[int, float]


def even(parameters: int, layers: int) -> list[tuple[int, float]]:
    """Layers of equal parameters and work: where only the sum is known."""
    return [(parameters // layers, 1.0)] * layers


def vgg16() -> list[tuple[int, float]]:
    """Configuration D of https://arxiv.org/abs/1409.1556: 13 convolutions of 3 x 3 and three full layers."""
    blocks = ((224, (64, 64)), (112, (128, 128)), (56, (256,) * 3), (28, (512,) * 3), (14, (512,) * 3))
    made, channels = [], 3
    for side, widths in blocks:
        for width in widths:
            weights = 9 * channels * width
            made.append((weights + width, float(weights * side * side)))
            channels = width
    full = ((7 * 7 * 512, 4096), (4096, 4096), (4096, 1000))
    return made + [(taken * given + given, float(taken * given)) for taken, given in full]


MODELS = {
    # One P100: https://www.tensorflow.org/performance/benchmarks, synthetic data, batch 64. Parameters:
    # https://keras.io/api/applications, which counts 23.9 million for Inception V3 and 44.7 for ResNet-101.
    "Inception V3": Published(142, even(23_900_000, 94), {128: 0.90, 512: 0.90}),
    "VGG-16": Published(154, vgg16(), {128: 0.79, 512: 0.68}),
    # Not among TensorFlow's: a sixteenth of the 1656.82 images a second that Horovod's page has for 16 GPUs.
    "ResNet-101": Published(1656.82 / 16, even(44_700_000, 101), {128: 0.90, 512: 0.90}),
}


def gradients(layers: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Bytes of each gradient, and the share of the backward pass after which it is ready; in that order."""
    whole = sum(work for _, work in layers)
    made, done = [], 0.0
    for parameters, work in reversed(layers):
        done += work
        made.append((4 * parameters, done / whole))
    return made


def predicted(model: Published, gpus: int, bandwidth: float = BANDWIDTH, spread: float = SPREAD) -> Predicted:
    """A step on so many GPUs. bandwidth: bytes a second."""
    work = Work(BATCH / model.images, BACKWARD, spread, gradients(model.layers))
    return predict(work, Network(HOP, 0.0, bandwidth), gpus, CYCLE, FUSION)


def on_hosts() -> int:
    """Predict the step of the largest job from a smaller one, then measure it."""
    sys.path.insert(0, str(ROOT))
    from tests.cluster.hosts import Cluster

    with tempfile.TemporaryDirectory() as name, Cluster(Path(name, "cluster")) as cluster:
        script = Path(name, "sleeping.py")
        script.write_text(SLEEPING)
        for host in cluster.names:
            cluster.limit_rate(host, RATE)

        def bench(ranks: int, *options: str) -> dict[str, Any]:
            """What hvdkit bench measures on both hosts."""
            hosts = ",".join(f"{host}:{ranks // 2}" for host in cluster.names)
            command = ["python", "-m", "hvdkit", "bench", script, "--gloo", "-H", hosts, "--blocks", "1"]
            done = cluster.run("a", [*command, "--steps", "20", "--json", *options], timeout=LIMIT_S)
            found: dict[str, Any] = json.loads(done.stdout)
            return found

        first = bench(FIRST, "--predict", str(LARGEST))
        largest = bench(LARGEST)
    step, measured = first["predicted"]["step"], largest["kinds"]["horovod"]["step"]
    print(f"{FIRST} ranks: {first['kinds']['horovod']['step'] * 1e3:.0f} ms a step, measured")
    print(f"{LARGEST} ranks: {step * 1e3:.0f} ms a step predicted, {measured * 1e3:.0f} ms measured")
    print(f"  {step / measured - 1:+.0%}", *first["predicted"]["inputs"], sep="\n  ")
    return int(abs(step / measured - 1) > GOAL_HOSTS)


def main() -> int:
    """Print the table, or measure."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--hosts", action="store_true", help="measure on two hosts, as root")
    if made.parse_args().hosts:
        return on_hosts()
    print(
        f"{'model':14}{'GPUs':>6}{'published':>11}{'model':>8}   at 90 % of the bandwidth, at a spread of 1 %"
    )
    missed = False
    for name, model in MODELS.items():
        for gpus, efficiency in model.efficiency.items():
            found, slower, steadier = (
                step.computing / step.step
                for step in (
                    predicted(model, gpus),
                    predicted(model, gpus, bandwidth=0.9 * BANDWIDTH),
                    predicted(model, gpus, spread=0.01),
                )
            )
            print(f"{name:14}{gpus:6}{efficiency:11.2f}{found:8.2f}   {slower:.2f}, {steadier:.2f}")
            missed |= gpus == 512 and abs(found - efficiency) >= GOAL
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
