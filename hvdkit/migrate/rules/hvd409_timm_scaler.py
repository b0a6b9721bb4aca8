"""HVD409: timm's NativeScaler is written out, since the reduction belongs in its middle."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

SCALER = "timm.utils.NativeScaler"
WRITTEN_OUT = frozenset(
    ("loss", "optimizer", "clip_grad", "clip_mode", "parameters", "create_graph", "need_update")
)
DISPATCH = "dispatch_clip_grad"


def check(facts: Facts) -> Iterator[Finding]:
    if not facts.calls(SCALER):
        return
    for names in facts.files:
        for call in names.of_kind(ast.Call):
            if len(call.args) + len(call.keywords) < 2 or not migrates(facts, names):
                continue
            if any(value.name == SCALER for value in facts.flow.values(names, call.func)):
                message = "timm's NativeScaler reads the gradients as soon as backward() returns"
                yield required(facts, "HVD409", names, call, message, _edit, facts, names, call)


def _edit(facts: Facts, names: Names, call: ast.Call) -> Edit:
    source, statement = names.source, names.statement(call)
    if not isinstance(statement, ast.Expr) or statement.value is not call:
        raise edits.CannotEdit("what the scaler returns is used")
    given = {k.arg for k in call.keywords}
    if len(call.args) > 2 or not given <= WRITTEN_OUT or "torch" not in names.module.names:
        raise edits.CannotEdit("it is called with more than a loss, an optimizer and what to clip to")
    expressions = [*call.args, *(keyword(call, name) for name in ("loss", "optimizer") if name in given)]
    if len(expressions) != 2 or not all(isinstance(e, (ast.Name, ast.Attribute)) for e in expressions):
        raise edits.CannotEdit("loss and optimizer are not plain variables")
    loss, optimizer = (source.segment(e) for e in expressions if e is not None)
    scaler = f"{source.segment(call.func)}._scaler"
    graph = keyword(call, "create_graph")
    lines = [
        f"{scaler}.scale({loss}).backward({f'create_graph={source.segment(graph)}' if graph else ''})",
        f"{optimizer}.synchronize()",
        *_when(
            names,
            keyword(call, "need_update"),
            [
                *_clipping(names, call, scaler, optimizer),
                *_step(facts, scaler, optimizer),
                f"{scaler}.update()",
            ],
        ),
    ]
    edits.own_lines(source, statement)
    indent = source.indent(statement.lineno)
    return edits.replace(source, statement, f"{source.newline}{indent}".join(lines))


def _when(names: Names, wanted: ast.expr | None, lines: list[str]) -> list[str]:
    """What ends a window of accumulated gradients: under its test, where there is one."""
    if wanted is None:
        return lines
    return [f"if {names.source.segment(wanted)}:", *(f"{names.source.unit}{line}" for line in lines)]


def _clipping(names: Names, call: ast.Call, scaler: str, optimizer: str) -> list[str]:
    source, unit = names.source, names.source.unit
    norm, parameters = keyword(call, "clip_grad"), keyword(call, "parameters")
    if norm is None or (isinstance(norm, ast.Constant) and norm.value is None):
        return []
    if parameters is None:
        raise edits.CannotEdit("there is a norm to clip to, and no parameters to clip")
    text, mode = source.segment(norm), keyword(call, "clip_mode")
    if mode is None:
        clip = f"torch.nn.utils.clip_grad_norm_({source.segment(parameters)}, {text})"
    elif any(binding.kind != "import" for binding in names.module.names.get(DISPATCH, ())):
        raise edits.CannotEdit(f"{DISPATCH} means something else in this file")
    else:
        clip = f"{DISPATCH}({source.segment(parameters)}, {text}, mode={source.segment(mode)})"
    lines = [f"{scaler}.unscale_({optimizer})", clip]
    if isinstance(norm, ast.Constant):
        return lines
    return [f"if {text} is not None:", *(f"{unit}{line}" for line in lines)]


def _step(facts: Facts, scaler: str, optimizer: str) -> list[str]:
    if facts.options.target == "hvdkit":
        return [f"{scaler}.step({optimizer})"]
    return [f"with {optimizer}.skip_synchronize():", f"    {scaler}.step({optimizer})"]


RULE = Rule(
    id="HVD409",
    title="timm's NativeScaler is written out",
    what="Replaces the call of timm.utils.NativeScaler by what it does, with the reduction after backward().",
    why=(
        "The helper unscales, clips and steps right after backward(), inside the library. Under Horovod it "
        "would see gradients of one rank, partly reduced, and an overflow would make that rank alone skip "
        "its step."
    ),
    safety=(
        "Safe: the same scaler makes the same calls in the same order. A call with options other than "
        "clipping is refused."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from timm.utils import NativeScaler
            from torch.nn.parallel import DistributedDataParallel

            model = DistributedDataParallel(torch.nn.Linear(2, 1))
            optimizer = torch.optim.AdamW(model.parameters())
            loss_scaler = NativeScaler()
            loss = model(x).sum()
            loss_scaler(loss, optimizer, clip_grad=max_norm,
                        parameters=model.parameters(), create_graph=False)
            """,
            """\
            import torch
            from timm.utils import NativeScaler
            from torch.nn.parallel import DistributedDataParallel

            model = DistributedDataParallel(torch.nn.Linear(2, 1))
            optimizer = torch.optim.AdamW(model.parameters())
            loss_scaler = NativeScaler()
            loss = model(x).sum()
            loss_scaler._scaler.scale(loss).backward(create_graph=False)
            optimizer.synchronize()
            if max_norm is not None:
                loss_scaler._scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
            with optimizer.skip_synchronize():
                loss_scaler._scaler.step(optimizer)
            loss_scaler._scaler.update()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from helpers import NativeScaler

            optimizer = torch.optim.AdamW(model.parameters())
            loss_scaler = NativeScaler()
            loss_scaler(loss, optimizer)
            """,
            reason="a different class of that name: HVD404 looks inside",
        ),
    ),
)
