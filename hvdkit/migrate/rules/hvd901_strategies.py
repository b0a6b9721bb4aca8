"""HVD901: programs that split the model or its state over the ranks are left as they are."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused, suggested
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.other_parallelism import OWN, RESTARTS, other_parallelism
from hvdkit.migrate.facts.launch.stop_at_option import find_stops, outermost_stop, passed_by
from hvdkit.migrate.plan import Finding

FITS = "if the model fits on one device, write it with DistributedDataParallel and run hvdkit migrate again"
ADVICE = {
    RESTARTS: "move to hvd.elastic by hand",
    OWN: "call the worker itself, without a process around it, and run hvdkit migrate again: horovodrun starts the processes",
}


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        for stopped in names.source.stopped:
            yield suggested(
                facts, "HVD901", names, stopped.node, stopped.message, lambda edit: edit, stopped.edit
            )
    stops = find_stops(facts)
    options = {stop.use: outermost_stop(stop, stops).option for stop in stops}
    for use in other_parallelism(facts):
        if passed_by(facts, use):
            continue
        advice = ADVICE.get(use.does, FITS)
        if use in options:
            advice += (
                f"; with --suggested the script stops where {options[use]} holds, and the rest is migrated"
            )
        yield refused("HVD901", use.names, use.node, f"{use.what} {use.does}", advice)


RULE = Rule(
    id="HVD901",
    title="sharded, tensor, pipeline and remote parallelism is refused",
    what=(
        "Leaves alone every program that uses FSDP, ZeRO, DeepSpeed, DTensor and device meshes, pipelines, "
        "RPC, periodic model averaging or torch's elastic agents, or trains in processes that it starts "
        "itself. Where all of that is behind options, and the program has DDP or DataParallel without them, "
        "--suggested makes it stop with a message where the option is set, so that the rest can be migrated."
    ),
    why=(
        "Horovod is data parallelism: each rank holds the whole model and its optimizer. A rewrite would "
        "run, but train a different model or run out of memory."
    ),
    safety=(
        "Nothing is edited in any file of the program without --suggested, which removes the option with the "
        "code in its branches. A test of ranks, of sizes or of what is installed is not an option."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.distributed.optim import ZeroRedundancyOptimizer
            from torch.nn.parallel import DistributedDataParallel as DDP

            def main(args, model):
                model = DDP(model)
                if args.zero:
                    optimizer = ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.SGD, lr=0.1)
                else:
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def main(args, model):
                model = DDP(model)
                if args.zero:
                    raise SystemExit("args.zero: ZeroRedundancyOptimizer does not run under Horovod")
                else:
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            """,
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import apex
            import torch

            model = torch.nn.Linear(2, 1)
            optimizer = apex.contrib.optimizers.FP16_Optimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            """,
            reason="copies in float32, which HVD910 reports: of apex's optimizers only the distributed ones shard",
        ),
    ),
)
