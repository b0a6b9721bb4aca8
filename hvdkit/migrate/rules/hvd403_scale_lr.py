"""HVD403: the learning rate of a script that was single-process, scaled by the number of ranks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.arguments import given, keyword
from hvdkit.migrate.facts.lookups import OPTIMIZER
from hvdkit.migrate.facts.optimizers import Optimizer
from hvdkit.migrate.facts.training import only_single
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

MESSAGE = "N ranks make a step of N times the samples: scale the learning rate by hvd.size(), with warm-up"
KEEPING = ("append", "extend", "insert", "update", "setdefault")  # functions that keep what they are given
SET_AGAIN = "the learning rate is set again here, and may come from the one that is scaled, or not"
SET_AGAIN_ADVICE = "multiply it by hvd.size() unless it is computed from what optimizer.param_groups had"


def check(facts: Facts) -> Iterator[Finding]:
    for optimizer in facts.optimizers:
        if not only_single(facts, optimizer.names):
            continue
        rate = _learning_rate(optimizer)
        if rate is not None and not _scaled(rate):
            yield facts.suggested(
                "HVD403", optimizer.names, rate, MESSAGE, _edits, facts, optimizer.names, rate
            )
    for names, rate in _rates_set_later(facts):
        if not only_single(facts, names) or _scaled(rate):
            continue
        if any(_reads(facts, names)):
            if facts.options.suggested:  # else nothing is scaled
                yield facts.manual("HVD403", names, rate, SET_AGAIN, SET_AGAIN_ADVICE)
        else:
            yield facts.suggested("HVD403", names, rate, MESSAGE, _edits, facts, names, rate)


def _learning_rate(optimizer: Optimizer) -> ast.expr | None:
    """The rate as it is given; all optimizers of torch.optim take it second."""
    name = optimizer.value.name
    by_position = optimizer.node.args[1:2] if name.startswith("torch.optim.") and name != OPTIMIZER else []
    return next(iter(by_position), keyword(optimizer.node, "lr"))


def _rates_set_later(facts: Facts) -> Iterator[tuple[Names, ast.expr]]:
    """What a program puts into `group["lr"]`, and the rate of a schedule that forgets the optimizer's."""
    for names in facts.files:
        for holder, binding in names.stores.get("['lr']", ()):
            if binding.kind == "assign" and binding.value is not None and _is_group(names, holder):
                if not any(_reads_rate(names, part) for part in ast.walk(binding.value)):
                    yield names, binding.value
    for site in facts.calls("torch.optim.lr_scheduler.OneCycleLR"):
        rate = given(site.node, 1, "max_lr")
        if rate is not None and not any(_reads_rate(site.names, part) for part in ast.walk(rate)):
            yield site.names, rate


def _is_group(names: Names, holder: ast.expr) -> bool:
    """Whether an expression is one of an optimizer's param_groups."""
    made = [holder]
    if isinstance(holder, ast.Name):
        made = [b.value for b in names.bindings(holder.id, holder) if b.value is not None]
    return any(
        isinstance(part, ast.Attribute) and part.attr == "param_groups"
        for node in made
        for part in ast.walk(node)
    )


def _reads(facts: Facts, names: Names) -> Iterator[tuple[Names, ast.expr]]:
    """Where the programs of a file ask an optimizer or a schedule for its rate."""
    files = {file for program in facts.programs if names in program.files for file in program.files}
    for file in sorted(files, key=lambda file: str(file.source.path)):
        for node in file.parents:
            if isinstance(node, ast.expr) and _reads_rate(file, node) and not _only_shown(facts, file, node):
                yield file, node


def _only_shown(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a rate goes into a text, or to a function of a library whose result nobody takes: a log."""
    for parent in names.ancestors(node):
        if isinstance(parent, ast.JoinedStr):
            return True
        if isinstance(parent, ast.Call):
            called = getattr(parent.func, "attr", getattr(parent.func, "id", ""))
            if called == "format":
                return True
            if isinstance(names.parents[parent], ast.Expr):
                return called not in KEEPING and not facts.flow.functions(names, parent)
    return False


def _reads_rate(names: Names, node: ast.AST) -> bool:
    """`group["lr"]`, `group["initial_lr"]`, `schedule.get_last_lr()`; not `state["lr"]` of a dict."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        named = isinstance(node.slice, ast.Constant) and node.slice.value in ("lr", "initial_lr")
        return named and not _is_other_dict(names, node.value)
    return isinstance(node, ast.Attribute) and node.attr in ("get_last_lr", "get_lr", "base_lrs", "defaults")


def _is_other_dict(names: Names, holder: ast.expr) -> bool:
    """Whether a variable is only ever given a dict that is written out."""
    bound = names.bindings(holder.id, holder) if isinstance(holder, ast.Name) else []
    return bool(bound) and all(isinstance(binding.value, (ast.Dict, ast.DictComp)) for binding in bound)


def _scaled(rate: ast.expr) -> bool:
    return any(
        isinstance(part, ast.Attribute) and part.attr in ("size", "local_size") for part in ast.walk(rate)
    )


def _edits(facts: Facts, names: Names, rate: ast.expr) -> list[Edit]:
    source = names.source
    simple = isinstance(rate, (ast.Name, ast.Attribute, ast.Constant, ast.Call, ast.Subscript))
    head, tail = ("", "") if simple else ("(", ")")
    start, end = source.start(rate), source.end(rate)
    size = f"{facts.hvd(names)}.size()"
    return (
        [Edit(start, start, head), Edit(end, end, f"{tail} * {size}")]
        if head
        else [Edit(end, end, f" * {size}")]
    )


RULE = Rule(
    id="HVD403",
    title="scale the learning rate",
    what=(
        "Multiplies the optimizer's lr by hvd.size() in a script that was single-process, and what the script puts "
        "into param_groups afterwards, or gives to OneCycleLR, which both replace it."
    ),
    why=(
        "The batch of one step grows with the number of ranks. The linear rule (Goyal et al. 2017, Accurate, "
        "Large Minibatch SGD) keeps the progress per epoch; it wants a warm-up of a few epochs."
    ),
    safety=(
        "Suggested, never on its own: it changes what is computed. A DDP script is left alone, since its author "
        "chose the rate for the whole batch."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
            loss.backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=args.lr * hvd.size(), momentum=0.9)
            loss.backward()
            """,
            suggested=True,
        ),
        Change(
            """\
            import torch

            def adjust(optimizer, epoch):
                lr = args.lr * 0.1 ** (epoch // 30)
                for group in optimizer.param_groups:
                    group["lr"] = lr

            optimizer = torch.optim.SGD(model.parameters(), args.lr)
            loss.backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            def adjust(optimizer, epoch):
                lr = args.lr * 0.1 ** (epoch // 30)
                for group in optimizer.param_groups:
                    group["lr"] = lr * hvd.size()

            optimizer = torch.optim.SGD(model.parameters(), args.lr * hvd.size())
            loss.backward()
            """,
            note="A rate that is set again is scaled there, too: nothing in the script asks for the one before.",
            suggested=True,
        ),
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=100)
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
            loss.backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * hvd.size())
            schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1 * hvd.size(), total_steps=100)
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
            loss.backward()
            """,
            suggested=True,
        ),
        Change(
            """\
            import torch

            state = {key: value for key, value in vars(args).items()}

            def adjust(optimizer, epoch):
                if epoch in args.schedule:
                    state["lr"] *= args.gamma
                    for group in optimizer.param_groups:
                        group["lr"] = state["lr"]

            optimizer = torch.optim.SGD(model.parameters(), args.lr)
            loss.backward()
            """,
            """\
            import horovod.torch as hvd
            import torch

            state = {key: value for key, value in vars(args).items()}

            def adjust(optimizer, epoch):
                if epoch in args.schedule:
                    state["lr"] *= args.gamma
                    for group in optimizer.param_groups:
                        group["lr"] = state["lr"] * hvd.size()

            optimizer = torch.optim.SGD(model.parameters(), args.lr * hvd.size())
            loss.backward()
            """,
            note="A rate that a dict of settings keeps is not the optimizer's.",
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            def make(module, name, *args, **options):
                return getattr(module, name)(*args, **options)

            model = torch.nn.Linear(2, 1)
            optimizer = make(torch.optim, "SGD", model.parameters())
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="the second argument is not the optimizer's: its rate is in what the function adds",
        ),
        Keep(
            """\
            import torch

            optimizer = torch.optim.Adam(model.parameters())
            start = [group["lr"] for group in optimizer.param_groups]
            for group, lr in zip(optimizer.param_groups, start):
                group["lr"] = lr * 0.1
            loss.backward()
            """,
            reason="the rate comes from the one that the optimizer has, which may be scaled",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss.backward()
            """,
            reason="only with --suggested",
            reported=True,
        ),
    ),
)
