"""Wrong migrations, each with the mistake a person makes; each is caught and named."""

from __future__ import annotations

import pytest

from hvdkit.verify.differences import Stage
from hvdkit.verify.report import as_json, verdict
from hvdkit.verify.report_html import as_html

pytestmark = pytest.mark.launch

BROADCAST = "    hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n"
WRAP = "optimizer = hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())"
SYNCHRONIZE = "            optimizer.synchronize()\n"
SKIP = "            with optimizer.skip_synchronize():\n                optimizer.step()\n"
STEP = "            optimizer.step()\n"

# fixture, texts to replace, stage of the first difference, words of the cause
WRONG = {
    "no broadcast": ("plain", {BROADCAST: ""}, Stage.PARAMETER, "is not broadcast"),
    "sum instead of average": (
        "plain",
        {WRAP: WRAP[:-1] + ", op=hvd.Sum)"},
        Stage.GRADIENT,
        "summed, not averaged",
    ),
    "sampler forgotten": (
        "plain",
        {"batch_size=8, sampler=sampler": "batch_size=8, shuffle=True"},
        Stage.SAMPLES,
        "no longer has a DistributedSampler",
    ),
    "set_epoch forgotten": (
        "plain",
        {"sampler.set_epoch(epoch)": "pass"},
        Stage.SAMPLES,
        "call sampler.set_epoch",
    ),
    "learning rate scaled": ("plain", {"lr=0.1": "lr=0.1 * hvd.size()"}, Stage.RATE, "multiplied by the 2"),
    "clip before synchronize": (
        "convnet",
        {SYNCHRONIZE: "", SKIP: STEP},
        Stage.ORDER,
        "clipped while Horovod still reduces",
    ),
    "broadcast before resume": (
        "local_rank",
        {
            "if arguments.resume": "hvd.broadcast_parameters(model.state_dict(), 0)\nif arguments.resume",
            "hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n": "",
        },
        Stage.PARAMETER,
        "loaded after the broadcast",
    ),
    "hvdkit's broadcast before resume": (
        "local_rank",
        {
            "import horovod.torch as hvd": "import hvdkit.torch as hvd",
            "if arguments.resume": "hvd.broadcast(model, optimizer)\nif arguments.resume",
            "hvd.broadcast_parameters(model.state_dict(), root_rank=0)\n": "",
        },
        Stage.PARAMETER,
        "loaded after the broadcast",
    ),
    "average copied before broadcast": (
        "convnet",
        {
            BROADCAST: "",
            "    average = copy.deepcopy(model)\n": f"    average = copy.deepcopy(model)\n{BROADCAST}",
        },
        Stage.UNTRAINED,
        "copied from a model before its weights were broadcast",
    ),
    "one optimizer unwrapped": (
        "gan",
        {"    maker_optimizer = hvd.DistributedOptimizer(": "    hvd.DistributedOptimizer("},
        Stage.GRADIENT,
        "optimizer 1 is not wrapped",
    ),
    "unfrozen layer uncovered": (
        "plain",
        {
            WRAP: f"model[0].requires_grad_(False)\n    {WRAP}\n    model[0].requires_grad_(True)",
        },
        Stage.GRADIENT,
        "not reduced over the ranks: 0.weight, 0.bias",
    ),
    "two writers of one file": ("plain", {"if rank == 0:": "if True:"}, Stage.FILES, "written by rank 0, 1"),
    "ranks seeded alike": (
        "accumulate",
        {"manual_seed(hvd.rank())": "manual_seed(0)"},
        Stage.LOSS,
        "all ranks get the same samples",
    ),
    "same shard on all ranks": (
        "plain",
        {"rank=hvd.rank())": "rank=0)"},
        Stage.SAMPLES,
        "all ranks get the same samples",
    ),
    "averaged twice": (
        "plain",
        {
            STEP: "            optimizer.synchronize()\n"
            "            for parameter in model.parameters():\n"
            "                parameter.grad /= hvd.size()\n" + SKIP,
        },
        Stage.GRADIENT,
        "divided by the number of ranks twice",
    ),
    "metric not reduced": (
        "convnet",
        {'        total = hvd.allreduce(total, op=hvd.Sum, name="total")\n': ""},
        Stage.COLLECTIVE,
        "the original's allreduce at original.py:40 was dropped",
    ),
    "optimizer resumed on rank 0 alone": (
        "local_rank",
        {"optimizer.load_state_dict(hvd.broadcast_object(optimizer.state_dict(), root_rank=0))\n": ""},
        Stage.STATE,
        "hvd.broadcast_object(optimizer.state_dict())",
    ),
    "phantom step": (
        "convnet",
        {"    scheduler =": "    hvd.broadcast_optimizer_state(optimizer, root_rank=0)\n    scheduler ="},
        Stage.PARAMETER,
        "took a step with zero gradients",
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_caught_and_named(stage, mistake):
    name, edits, where, words = WRONG[mistake]
    result = stage(name).migrated(edits)
    assert not result.holds
    first = result.comparison.differences[0]
    assert first.stage is where, first
    assert any(words in cause.text for cause in result.causes), result.causes
    assert verdict(result).startswith("differ")
    assert as_json(result)["holds"] is False
    page = as_html(result)
    assert 'class="verdict bad">differ' in page and "<h2>Differences</h2>" in page and "<polyline" in page
