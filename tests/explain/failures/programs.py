"""Training scripts with one mistake each, run on 2 ranks."""

from __future__ import annotations

from failures.jobs import STALL, Failure, job

START = """\
import os, sys, time
import torch
import horovod.torch as hvd

hvd.init()
rank = hvd.rank()
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
"""
WRAP = START + "optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())\n"
STEP = "model(torch.randn(2, 4)).sum().backward()\n"

# cause/variant: what follows the start.
SCRIPTS: dict[str, str] = {
    "stalled/evaluation_on_rank_0": WRAP
    + "def evaluate():\n    return hvd.allreduce(torch.ones(1), name='validation.loss')\n"
    + STEP
    + "optimizer.step()\nif rank == 0:\n    evaluate()\nelse:\n    time.sleep(60)\n",
    "names_differ/loop": WRAP + "name = f'metric.{rank}'\nhvd.allreduce(torch.ones(1), name=name)\n",
    "duplicate_name/two_models": START
    + "of_g = hvd.allreduce_async(torch.ones(1 << 20), name='weight')\n"
    + "of_d = hvd.allreduce_async(torch.ones(1 << 20), name='weight')\nhvd.synchronize(of_d)\n",
    "backward_passes/accumulation": WRAP + STEP + STEP,
    "zero_grad_early/order": WRAP + STEP + "optimizer.zero_grad()\n",
    "shape_mismatch/last_batch": START + "hvd.allreduce(torch.ones(4 + rank), name='logits')\n",
    "dtype_mismatch/half": START
    + "hvd.allreduce(torch.ones(4, dtype=torch.float64 if rank else torch.float32), name='loss')\n",
    "names_differ/branch": START
    + "collective = hvd.allgather if rank else hvd.allreduce\ncollective(torch.ones(4), name='scores')\n",
    "root_mismatch/own_rank": START + "hvd.broadcast(torch.ones(4), root_rank=rank, name='weights')\n",
    "reduction_mismatch/sum": START
    + "hvd.allreduce(torch.ones(4), op=hvd.Min if rank else hvd.Max, name='loss')\n",
    "own_error/one_rank": WRAP
    + STEP
    + "optimizer.step()\nif rank == 1:\n    raise KeyError('label')\n"
    + "hvd.allreduce(torch.ones(1), name='loss')\n",
    "ended_early/exit_code": WRAP + STEP + "if rank == 1:\n    sys.exit(3)\noptimizer.step()\n",
    "shut_down/data_ended": WRAP
    + STEP
    + "optimizer.step()\nif rank == 1:\n    sys.exit(0)\ntime.sleep(2)\n"
    + "hvd.allreduce(torch.ones(1), name='loss')\n",
    "module_missing/import": START + "import albumentations_not_here\n",
    "not_initialized/order": START.replace("hvd.init()\n", ""),
    "unsupported_dtype/bfloat16": START
    + "hvd.allreduce(torch.ones(4, dtype=torch.bfloat16), name='gradient')\n",
    "not_contiguous/channels_last": START + "hvd.broadcast_(torch.ones(4, 3).t(), 0, name='weight')\n",
    "generator_parameters/parameters": START + "hvd.broadcast_parameters(model.parameters(), root_rank=0)\n",
    "lbfgs/state": START
    + "hvd.broadcast_optimizer_state(torch.optim.LBFGS(model.parameters()), root_rank=0)\n",
    "crashed/segmentation_fault": WRAP
    + STEP
    + "if rank == 1:\n    import ctypes\n    ctypes.string_at(0)\noptimizer.step()\n",
    "crashed/faulthandler": WRAP
    + STEP
    + "import ctypes, faulthandler\nfaulthandler.enable()\n"
    + "if rank == 1:\n    ctypes.string_at(0)\noptimizer.step()\n",
    "killed/signal_9": WRAP + STEP + "if rank == 1:\n    os.kill(os.getpid(), 9)\noptimizer.step()\n",
}
# Under Gloo, Horovod 0.28.1 gives no stall warning: what each rank has submitted is in the trace alone.
HANGS = ("stalled", "names_differ")


def _failure(key: str, controller: str) -> Failure:
    cause, _, variant = key.partition("/")
    trace = {"HOROVOD_LOG_LEVEL": "trace"} if cause in HANGS and controller == "gloo" else {}
    return Failure(
        cause,
        f"{variant}_{controller}",
        lambda: job(SCRIPTS[key], controller, environment={**STALL, **trace}, limit=40 if trace else 600),
    )


FAILURES = [_failure(key, controller) for key in SCRIPTS for controller in ("gloo", "mpi")]
