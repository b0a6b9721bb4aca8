"""What one rank of the proof does: `python -m hvdkit.install.allreduce torch|tensorflow`, under horovodrun.

Each rank contributes another number; only a sum over all ranks gives the right one.
"""

from __future__ import annotations

import sys
from importlib import import_module


def main(framework: str) -> int:
    """Sum rank + 1 over the ranks and compare; exit code 0 if it is right in a world of more than one."""
    hvd = import_module(f"horovod.{framework}")
    hvd.init()
    if framework == "torch":
        import torch

        total = hvd.allreduce(torch.tensor([hvd.rank() + 1.0]), op=hvd.Sum).item()
    else:
        tensorflow = import_module("tensorflow")
        total = hvd.allreduce(tensorflow.constant([hvd.rank() + 1.0]), op=hvd.Sum).numpy()[0]
    expected = hvd.size() * (hvd.size() + 1) / 2
    print(f"rank {hvd.rank()} of {hvd.size()}: sum {total}, expected {expected}")
    return 0 if hvd.size() > 1 and total == expected else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
