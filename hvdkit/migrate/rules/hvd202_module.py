"""HVD202: model.module becomes model, for every alias of a wrapped model and nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.unwrapping import (
    asked_first,
    class_questions,
    left_out,
    looks_through,
    loses_wrappers,
    must_hold,
    none_has_module,
    of_context,
    of_record,
    only_asks,
    own_module,
    question,
    unknown,
    wrapped,
)
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

GONE = "the model is not wrapped any more, so .module goes"
ADVICE = "drop .module here if this is the model that was wrapped: it is the model itself now"


def check(facts: Facts) -> Iterator[Finding]:
    for names in facts.files:
        for node in names.attributes.get("module", ()):
            if not facts.of_object(names, node) or names.parents[node] in names.calls.get(
                "import_module", ()
            ):
                continue  # a library's, or the name of a module
            if not asked_first(names, node, node.value):
                yield from _attribute(facts, names, node)
        for call in names.calls.get("getattr", ()):
            literal = len(call.args) == 2 and isinstance(call.args[1], ast.Constant)
            if literal and call.args[1].value == "module" and wrapped(facts, names, call.args[0]):  # type: ignore[attr-defined]
                yield facts.safe("HVD202", names, call, GONE, edits.unwrap, names.source, call, call.args[0])
        for call in names.calls.get("hasattr", ()):
            if question(call) and left_out(facts, names, call):
                message = (
                    "this is false now: the model is not wrapped any more, and what stands below is left out"
                )
                advice = (
                    "leave out this test, and .module in what it guards, where the model was always wrapped"
                )
                yield facts.manual("HVD202", names, call, message, advice)
    for names, call in class_questions(facts):
        told = "ddp" in facts.kinds(names) or must_hold(facts, names, call)
        if told and not looks_through(names, call):
            message = "this test for DDP or DataParallel is false now: the model is not wrapped any more"
            advice = "decide which branch a Horovod run takes, and ask hvd.size() > 1 where that is meant"
            yield facts.manual("HVD202", names, call, message, advice)


def _attribute(facts: Facts, names: Names, node: ast.Attribute) -> Iterator[Finding]:
    if not wrapped(facts, names, node.value):
        if isinstance(node.value, ast.Name) and node.value.id != "self" and loses_wrappers(facts, names):
            held = of_record(names, node.value) or of_context(facts, names, node.value)
            if not held and unknown(facts, names, node.value):
                message = "what this .module belongs to could not be followed"
                yield _if_there(facts, names, node, message)
        return
    other = own_module(facts, names, node.value)
    if other is not None:
        message = f"this may be the wrapped model or a {other.name}, which has a .module of its own"
        yield _if_there(facts, names, node, message)
    elif isinstance(node.ctx, ast.Load):
        yield facts.safe("HVD202", names, node, GONE, _edit, facts, names, node)
    else:
        message = "the model inside the wrapper is replaced here, and the wrapper goes"
        advice = "assign to the variable that holds the model instead"
        yield facts.manual("HVD202", names, node, message, advice)


def _if_there(facts: Facts, names: Names, node: ast.Attribute, message: str) -> Finding:
    """`x.module` of what may be a model that was wrapped, or something else: asked for where it is there."""
    parts = [*ast.walk(node.value)]
    plain = all(isinstance(part, (ast.Name, ast.Attribute, ast.expr_context)) for part in parts)
    builtin = not names.bindings("getattr", node)
    if not plain or not builtin or not isinstance(node.ctx, ast.Load) or not none_has_module(facts):
        return facts.manual("HVD202", names, node, message, ADVICE)
    text = names.source.segment(node.value)
    message, asked = f"{message}: it is asked for", f'getattr({text}, "module", {text})'
    return facts.safe("HVD202", names, node, message, edits.replace, names.source, node, asked)


def _edit(facts: Facts, names: Names, node: ast.Attribute) -> Edit:
    """`x.module` -> `x`; `x.module if test else x` -> `x` where the test has no effect."""
    choice = names.parents[node]
    if isinstance(choice, ast.IfExp) and node in (choice.body, choice.orelse):
        other = choice.orelse if node is choice.body else choice.body
        if only_asks(facts, names, choice.test) and ast.dump(other) == ast.dump(node.value):
            return _whole(names, choice, names.source.segment(node.value))
    if isinstance(choice, ast.Assign) and [ast.unparse(to) for to in choice.targets] == [
        ast.unparse(node.value)
    ]:
        return edits.delete(names, _with_its_test(facts, names, choice))  # `model = model.module`
    return edits.drop_attribute(names.source, node)


def _with_its_test(facts: Facts, names: Names, statement: ast.stmt) -> ast.stmt:
    """A statement, or the `if` around it that is there for nothing else."""
    test = names.parents[statement]
    if not isinstance(test, ast.If) or test.body != [statement] or test.orelse:
        return statement
    return statement if names.source.is_elif(test) or not only_asks(facts, names, test.test) else test


def _whole(names: Names, choice: ast.IfExp, text: str) -> Edit:
    """A conditional expression replaced, with the parentheses it needs in front of an attribute."""
    source = names.source
    start, end = source.start(choice), source.end(choice)
    if isinstance(names.parents[choice], (ast.Attribute, ast.Subscript)):
        opening = re.search(r"\(\s*$", source.text[:start])
        closing = re.match(r"\s*\)", source.text[end:])
        if opening and closing:
            start, end = opening.start(), end + closing.end()
    return Edit(start, end, text)


RULE = Rule(
    id="HVD202",
    title="model.module becomes model",
    what=(
        "Drops .module where the object is a model that DDP or DataParallel wrapped, through any alias, attribute, "
        "collection or call. Where it may be something else that has a .module, and the model has none, it is asked for: "
        'getattr(x, "module", x). Tests for the wrapper, and a .module that cannot be followed, are reported.'
    ),
    why="Without DDP there is no wrapper to look through; the attribute would not exist.",
    safety=(
        "Safe: only where the value was followed back to a wrapping call. Code that asks first, by hasattr, getattr "
        "with a default, isinstance or except AttributeError, is right with and without a wrapper and stays; told is an "
        '`if hasattr(model, "module"):` that does more than to look through, and has no `else`.'
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Average:
                def __init__(self, net):
                    self.module = net

            def state(net):
                return net.module.state_dict()

            model = DDP(torch.nn.Linear(2, 1))
            state(model), state(Average(model))
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Average:
                def __init__(self, net):
                    self.module = net

            def state(net):
                return getattr(net, "module", net).state_dict()

            model = DDP(torch.nn.Linear(2, 1))
            state(model), state(Average(model))
            """,
            note="The helper gets the model, which has no .module itself, and something that keeps its own.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def save(net):
                torch.save(net.module.state_dict(), "net.pt")

            wrapped = DDP(torch.nn.Linear(2, 1))
            save(wrapped)
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def save(net):
                torch.save(net.state_dict(), "net.pt")

            wrapped = DDP(torch.nn.Linear(2, 1))
            save(wrapped)
            """,
            note="Only this rule: HVD201 takes the wrapping call.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def is_parallel(model):
                return type(model) is DDP

            if world > 1:
                generator = DDP(generator)
            state = {"g": (generator.module if world > 1 else generator).state_dict()}
            bare = generator if world == 1 else generator.module
            copied = deepcopy(generator.module if is_parallel(generator) else generator)
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def is_parallel(model):
                return type(model) is DDP

            if world > 1:
                generator = DDP(generator)
            state = {"g": generator.state_dict()}
            bare = generator
            copied = deepcopy(generator)
            """,
            note="With nothing left to choose between, the test goes as well.",
        ),
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self, net):
                    self.model = DDP(net)
                    self.parts = {"net": self.model}

                def inner(self):
                    return self.model.module

                def save(self):
                    return self.parts["net"].module.state_dict(), getattr(self.model, "module").training
            """,
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self, net):
                    self.model = DDP(net)
                    self.parts = {"net": self.model}

                def inner(self):
                    return self.model

                def save(self):
                    return self.parts["net"].state_dict(), self.model.training
            """,
        ),
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            models = [DDP(m) for m in build()]
            by_name = {"a": models[0]}
            for model in models:
                model.module.reset()
            for key, model in by_name.items():
                model.module.reset()
            """,
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            models = [DDP(m) for m in build()]
            by_name = {"a": models[0]}
            for model in models:
                model.reset()
            for key, model in by_name.items():
                model.reset()
            """,
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = torch.nn.Sequential(torch.nn.Linear(2, 2))
            model = DDP(net)
            first = (model.module if distributed else model)[0]
            bare = (model.module if distributed else model).state_dict()
            other = model.module if distributed else net
            one = model.module if ready() else model
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            net = torch.nn.Sequential(torch.nn.Linear(2, 2))
            model = DDP(net)
            first = model[0]
            bare = model.state_dict()
            other = model if distributed else net
            one = model if ready() else model
            """,
            note="Under parentheses, in front of an attribute and in front of an index.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def test(model, distributed):
                if distributed:
                    model = model.module
                return model.weight

            test(DDP(torch.nn.Linear(2, 1)), True)
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def test(model, distributed):
                return model.weight

            test(DDP(torch.nn.Linear(2, 1)), True)
            """,
            note="A statement that would give a variable to itself goes.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from torch import nn

            def patch(wrapped):
                assert isinstance(wrapped, nn.DataParallel)
                wrapped.replicate = replicate

            model = nn.DataParallel(nn.Linear(2, 1))
            patch(model)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(x).sum().backward()
            optimizer.step()
            """,
            reason="the script would stop here, as the model is not wrapped any more",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
            model.module.eval()
            if hvd.rank() == 0:
                print(model(x))
            """,
            reason="a script that starts Horovod already keeps its DataParallel: what a first run leaves, a second does",
        ),
        Keep(
            """\
            import torch

            class Model:
                def __init__(self):
                    self.netG = torch.nn.DataParallel(torch.nn.Linear(2, 1))
                    self.netG(x).sum().backward()
                    optimizer.step()

                def save(self, name):
                    net = getattr(self, "net" + name)
                    torch.save(net.module.state_dict(), "net.pt")
            """,
            reason="which model it is, its name says when the script runs",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel

            class Balance(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x, module):
                    ctx.module = module
                    return x

                @staticmethod
                def backward(ctx, grad):
                    return grad * ctx.module.scale, None

            torch.distributed.init_process_group("nccl")
            model = DistributedDataParallel(torch.nn.Linear(2, 1))
            Balance.apply(model(x), scales).sum().backward()
            """,
            reason="what the function's context holds is the function's own",
        ),
        Keep(
            """\
            import torch

            class Holder(torch.nn.Module):
                def __init__(self, module):
                    super().__init__()
                    self.module = module

            Holder(torch.nn.Linear(2, 1)).module.weight
            """,
            reason="the attribute is the class's own",
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            bare = model.module if hasattr(model, "module") else model
            same = getattr(model, "module", model)
            if isinstance(model, DDP):
                model = model.module
            try:
                state = model.module.state_dict()
            except AttributeError:
                state = model.state_dict()
            inner = model
            while True:
                if not hasattr(inner, "module"):
                    break
                inner = inner.module
            """,
            reason="the code asks first, and is right with and without a wrapper",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Net(torch.nn.Module):
                def __init__(self):
                    super().__init__()
                    self.module = torch.nn.Linear(2, 1)

            class Average:
                def __init__(self, net):
                    self.module = net

            def state(net):
                return net.module.state_dict()

            model = DDP(Net())
            state(model), state(Average(model))
            """,
            reason="one of them keeps its .module, and the model has one, too",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            def evaluate(model, scores):
                if hasattr(model, "module") and hasattr(model.module, "codes"):
                    unused = (model.module.codes.sizes == 0).sum().item()
                    scores["unused"] = unused
                    return scores
                return scores

            evaluate(DDP(net), {})
            """,
            reason="without a wrapper the codes are not counted any more",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            def bare(model):
                if hasattr(model, "module"):
                    return model.module
                return model

            model, ema = DDP(net), DDP(net)
            inner = model
            if hasattr(model, "module"):
                inner = model.module
            if hasattr(ema, "module"):
                ema = ema.module
            bare(model).eval()
            """,
            reason="each looks through the wrapper, if there is one",
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            model.module = other
            """,
            reason="the model inside is exchanged: which variable gets it is not the rule's to say",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            def export(thing):
                return thing.module.state_dict()
            """,
            reason="nothing shows what the function is called with",
            reported=True,
        ),
        Keep(
            """\
            import importlib
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            def data(entry):
                return importlib.import_module(entry.module).Data()
            """,
            reason="what is imported by it is the name of a module, not a model",
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            many = isinstance(model, DDP)
            """,
            reason="the answer changes, and something else depends on it",
            reported=True,
        ),
        Keep(
            """\
            import torch

            model = torch.nn.DataParallel(net)
            print(model.module)
            """,
            reason="the program does not train, and keeps its DataParallel",
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            def train(nets, batches):
                phases = []
                for net in nets:
                    wrapped = DDP(net)
                    phases += [Phase(module=net, loss=Loss(wrapped))]
                for phase, batch in zip(phases, batches):
                    phase.module.requires_grad_(True)
            """,
            reason="the list holds records of the project, each with a module of its own",
        ),
        Keep(
            """\
            import contextlib
            from torch.nn.parallel import DistributedDataParallel as DDP

            @contextlib.contextmanager
            def synchronized(model, sync):
                if sync or not isinstance(model, DDP):
                    yield
                else:
                    with model.no_sync():
                        yield

            model = DDP(net)
            with synchronized(model, last):
                model(x).sum().backward()
            """,
            reason="the test only guards no_sync(), which is another rule's (HVD405)",
        ),
        Keep(
            """\
            import torch
            from timm.utils import ModelEmaV2
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(get_model())
            chosen = ModelEmaV2(model) if ema else model
            print(chosen.module)
            """,
            reason="a library's class has a .module of its own, and it is not known whether the model has one",
            reported=True,
        ),
    ),
)
