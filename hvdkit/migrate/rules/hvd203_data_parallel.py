"""HVD203: DataParallel goes: Horovod runs one process on each GPU."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.coverage.trained_wraps import may_train
from hvdkit.migrate.facts.models.wraps import Wrap, core, find_wraps, own_data_parallel
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import kinds_of, migrates, programs_of
from hvdkit.migrate.facts.programs.reached_code import started, trained_by
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.wrapping import broadcast_line, take_away
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

BATCH = (
    "it split one batch over the GPUs of a process, and each rank now reads a batch of that size for its "
    "one GPU: to train as before, divide batch_size by the number of ranks and leave the rate unscaled "
    "(HVD403)"
)


def check(facts: Facts) -> Iterator[Finding]:
    for wrap in find_wraps(facts):
        kinds = kinds_of(facts, wrap.names) & {"ddp", "single"}
        if wrap.name not in words.DATA_PARALLEL or not kinds:
            continue
        if wrap.inner is None or isinstance(wrap.inner, ast.Starred):
            message = "DataParallel gets its model in a way that cannot be followed"
            yield manual("HVD203", wrap.names, wrap.node, message, "remove the DataParallel call")
            continue
        message = "DataParallel is removed: each rank has one GPU"
        # In a single-process script HVD402 broadcasts, once the optimizer is there.
        broadcasts = "ddp" in kinds and _may_be_trained(facts, wrap)
        finding = safe(facts, "HVD203", wrap.names, wrap.node, message, _edits, facts, wrap, broadcasts)
        trained = any(optimizer.models & wrap.models for optimizer in averaging_optimizers(facts))
        alone = trained and "ddp" not in kinds and trained_by(facts, wrap.names, wrap.node)
        yield finding.knowing(BATCH if alone else "")
    for names, call in own_data_parallel(facts):
        if migrates(facts, names):
            message = "this class derives from DataParallel: every rank would drive all GPUs of its host"
            advice = "remove the call, and .module where its result is used: each rank has one GPU"
            yield manual("HVD203", names, call, message, advice)
    yield from _functions(facts)


def _functions(facts: Facts) -> Iterator[Finding]:
    """Calls of the functions that do what DataParallel does, in programs of one process."""
    for names, node, name in ((site.names, site.node, site.name) for site in facts.calls(*words.SPREADING)):
        if not any(program.kind == "single" for program in trained_by(facts, names, node)):
            continue
        plain = _plain_call(names, node) if name in words.SPREADING_CALLS else None
        message = f"{name.rpartition('.')[2]} runs the model on all GPUs of the host, and every rank would"
        if plain is None:
            advice = "call the model itself, without device_ids and without gathering the results: each rank has one GPU"
            yield manual("HVD203", names, node, message, advice)
        else:
            message += ": the model is called itself"
            yield safe(facts, "HVD203", names, node, message, edits.recast, names.source, node, plain)


def _plain_call(names: Names, call: ast.Call) -> list[str | ast.expr] | None:
    """`model(x, y)` for `data_parallel(model, (x, y), ids)`, or None: what is no tuple may be one as it runs.

    Where the same function calls the model with the same thing elsewhere, that is no tuple.
    """
    if len(call.args) < 2 or any(word.arg == "module_kwargs" for word in call.keywords) or len(call.args) > 5:
        return None
    model, inputs = call.args[:2]
    if not isinstance(model, (ast.Name, ast.Attribute, ast.Subscript)):
        return None
    around = names.function(call) or names.source.tree
    if isinstance(inputs, ast.Tuple) and inputs.elts:
        parts = [part for each in inputs.elts for part in (", ", each)]
        return [model, "(", *parts[1:], ")"]
    plain = ast.dump(ast.Call(model, [inputs], []))
    if any(ast.dump(other) == plain for other in names.calls_in(around)):
        return [model, "(", inputs, ")"]
    return None


def _edits(facts: Facts, wrap: Wrap, broadcasts: bool) -> list[Edit]:
    assert wrap.inner is not None
    inner = core(facts, wrap.names, wrap.inner)

    running = started(facts, wrap.names, wrap.node)

    def lines(model: str) -> list[str]:
        if not broadcasts or running == {False}:  # only programs that never call hvd.init() come here
            return []
        line = broadcast_line(facts, wrap.names, model)
        if False in running:
            return [f"if {horovod_name(facts, wrap.names)}.is_initialized():", f"\t{line}"]
        return [line]

    return take_away(wrap.names, wrap.node, wrap.inner, inner, lines)


def _may_be_trained(facts: Facts, wrap: Wrap) -> bool:
    """Whether a model is not only there to evaluate others, as the Inception network of an FID is."""
    programs = [p for p in programs_of(facts) if p.kind == "ddp" and wrap.names in p.files]
    files = {file for program in programs for file in program.files}
    here = [optimizer for optimizer in averaging_optimizers(facts) if optimizer.names in files]
    return not averaging_optimizers(facts) or any(may_train(optimizer, wrap) for optimizer in here)


RULE = Rule(
    id="HVD203",
    title="DataParallel is removed",
    what=(
        "Removes torch.nn.DataParallel in every program that trains, and in those of one process the "
        "function data_parallel()."
    ),
    why=(
        "DataParallel drives all GPUs of a machine from one process, copying the model at each step. Under "
        "Horovod each process has one GPU. In a script that also knows DDP it is the branch for a run that "
        "is not distributed; there the model is broadcast as well, so that no launch leaves the ranks with "
        "different weights."
    ),
    safety=(
        "Safe: each rank computes the same as before. The batch is whole on each rank: divide batch_size by "
        "the number of ranks to keep the old global batch, or scale the learning rate (HVD403)."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            import torch.nn as nn

            model = nn.Linear(2, 1)
            if torch.cuda.device_count() > 1:
                model = nn.DataParallel(model)
            model(x).sum().backward()
            optimizer.step()
            """,
            """\
            import torch.nn as nn

            model = nn.Linear(2, 1)
            model(x).sum().backward()
            optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
            print(model(x))
            """,
            reason="the program does not train: one process may drive all GPUs",
        ),
    ),
)
