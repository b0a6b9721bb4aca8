"""HVD206: names of parameters no longer begin with "module.", which code that takes it off or puts it on must know."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.checkpoint_names import (
    holds_wrapped,
    loads_into_wrapped,
    meets_names,
    passes_over,
    readers,
    state_loads,
    writes_wrapped_with,
)
from hvdkit.migrate.facts.models.unwrapping import question
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.values.arguments import given, passed, positional
from hvdkit.migrate.names import COMPREHENSIONS, Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

PREFIX = "module."
# Calls that take the prefix off where it is, and do nothing where it is not.
STRIPPING = ("replace", "removeprefix", "lstrip", "split", "sub", "consume_prefix_in_state_dict_if_present")
TESTS = ("startswith", "find", "index", "count")
PUTS_ON = "names of the model's parameters do not begin with module. any more"
PUTS_ON_ADVICE = "leave module. out: checkpoints that are written from now on have no such prefix"
NOTHING = (
    "unknown names are passed over: a checkpoint of the wrapped model, with module. in them, loads nothing"
)
STRIPPED = (
    "checkpoints of the wrapped model are read, too: unknown names are passed over, and would load nothing"
)
OLDER = "checkpoints of the wrapped model are read, too: their names begin with module., and these no more"
NOTHING_ADVICE = "take module. off the names of older checkpoints before they are loaded, then drop this note"
LEFT_OUT = "names that do not begin with module. are left out here, and none begin so any more"
LEFT_OUT_ADVICE = 'keep the others under the names that they have: key.removeprefix("module.") for every key'
INSIDE = "unknown names are passed over: a checkpoint from before has .module. in the names of a part that was wrapped"
INSIDE_ADVICE = (
    "take module. out of the names of older checkpoints before they are loaded, then drop this note"
)
STAYS = "this model is wrapped, and the names in the checkpoints that the training writes begin with module. no more"
STAYS_ADVICE = "load into model.module, and take module. off the names of older checkpoints"


def check(facts: Facts) -> Iterator[Finding]:
    files = {wrap.names for wrap in find_wraps(facts)}
    programs = [
        program for program in facts.programs if program.kind in ("ddp", "single") and program.files & files
    ]
    inside = {names for program in programs for names in program.files} | readers(facts)
    for names in (names for names in facts.files if names in inside):
        for node in names.of_kind(ast.Constant, ast.Subscript):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value.startswith(PREFIX)
            ):
                if _leaves_out(names, node):
                    yield facts.manual("HVD206", names, node, LEFT_OUT, LEFT_OUT_ADVICE)
                    continue
                if _harmless(names, node) or _tried_in_turn(names, node) or _asked(names, node):
                    continue
                if _given_to_strip(facts, names, node) or _asked_without(names, node):
                    continue
                if _where_both_are_read(names, node):
                    continue
                loads = _loads(facts, names, node)
                if loads:
                    message = "checkpoints are read without module., whether they have it or not"
                    yield facts.suggested("HVD206", names, node, message, _without, names, node, loads)
                else:
                    yield facts.manual("HVD206", names, node, PUTS_ON, PUTS_ON_ADVICE)
            elif isinstance(node, ast.Subscript) and _cuts_off(facts, names, node):
                message = (
                    "the first seven characters are cut off names, which do not begin with module. any more"
                )
                advice = 'take the prefix off only where it is: key.removeprefix("module.")'
                yield facts.manual("HVD206", names, node, message, advice)
        for call, model in state_loads(names):
            if passes_over(names, call) and meets_names(facts, names, model) and not _taken_off(names, call):
                state = given(call, 0, "state_dict")
                if state is not None and _of_file(facts, names, state) and not _has_module(facts):
                    yield facts.suggested("HVD206", names, call, STRIPPED, _bare, names, state)
                else:
                    yield facts.manual("HVD206", names, call, NOTHING, NOTHING_ADVICE)
            elif (
                writes_wrapped_with(facts, names)
                and meets_names(facts, names, model)
                and not _taken_off(names, call)
                and not _is_one_of(names, model)
            ):
                state = given(call, 0, "state_dict")
                if state is not None and _of_file(facts, names, state) and not _has_module(facts):
                    yield facts.suggested("HVD206", names, call, OLDER, _bare, names, state)
    for names in facts.files:
        for call, model in state_loads(names):
            if passes_over(names, call) and holds_wrapped(facts, names, model):
                yield facts.manual("HVD206", names, call, INSIDE, INSIDE_ADVICE)
    for names, call in loads_into_wrapped(facts):
        yield facts.manual("HVD206", names, call, STAYS, STAYS_ADVICE)


def _loads(facts: Facts, names: Names, node: ast.Constant) -> list[ast.expr]:
    """What a loop over names takes from checkpoints that its function loads: `checkpoint["state_dict"]`."""
    loop = _loop(names, node)
    if loop is None or isinstance(names.parents[node], ast.JoinedStr):
        return []
    used = {part.id for part in ast.walk(loop) if isinstance(part, ast.Name)}
    return [
        statement.value
        for statement in names.walk(names.function(node) or names.source.tree)
        if isinstance(statement, ast.Assign)
        and names.function(statement) is names.function(node)
        and isinstance(statement.targets[0], ast.Name)
        and statement.targets[0].id in used
        and isinstance(statement.value, ast.Subscript)
        and isinstance(statement.value.slice, ast.Constant)
        and isinstance(statement.value.value, (ast.Name, ast.Call))
        and _is_loaded(facts, names, statement.value.value)
        and _keyed(loop, statement.targets[0].id)
    ]


def _loop(names: Names, node: ast.AST) -> ast.For | None:
    return next((parent for parent in names.ancestors(node) if isinstance(parent, ast.For)), None)


def _is_loaded(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether a function itself loads a checkpoint: `torch.load(path)`, or a variable that holds it."""
    if isinstance(node, ast.Call):
        return "torch.load" in facts.flow.qualified(names, node.func)
    bindings = names.bindings(node.id, node) if isinstance(node, ast.Name) else []
    values = [binding.value for binding in bindings]
    return bool(values) and all(isinstance(v, ast.Call) and _is_loaded(facts, names, v) for v in values)


def _keyed(loop: ast.For, name: str) -> bool:
    """Whether a loop runs over a dict's names, or looks some up in it: `for k in list(d.keys())`, `d[k]`."""
    asked = (part for part in ast.walk(loop) if isinstance(part, (ast.Attribute, ast.Subscript)))
    return any(
        isinstance(part.value, ast.Name)
        and part.value.id == name
        and (isinstance(part, ast.Subscript) or part.attr in ("keys", "items"))
        for part in asked
    )


def _without(names: Names, node: ast.Constant, loads: list[ast.expr]) -> list[Edit]:
    """The prefix gone from the texts of a loop, and from the names that are loaded for it."""
    source, found = names.source, []
    for text in names.walk(_loop(names, node) or source.tree):
        if not isinstance(text, ast.Constant) or not isinstance(text.value, str):
            continue
        if text.value.startswith(PREFIX) and text.value != PREFIX:
            written = source.segment(text)
            if written[1 : 1 + len(PREFIX)] != PREFIX:
                raise edits.CannotEdit("the text is not a plain one")
            found.append(edits.replace(source, text, written[0] + written[1 + len(PREFIX) :]))
    return [*found, *(_bare(names, load) for load in loads)]


def _bare(names: Names, state: ast.expr) -> Edit:
    """A checkpoint's names without the prefix."""
    taken = f"{names.source.segment(state)}.items()"
    bare = f'{{name.removeprefix("{PREFIX}"): value for name, value in {taken}}}'
    return edits.replace(names.source, state, bare)


def _of_file(facts: Facts, names: Names, state: ast.expr) -> bool:
    """Whether names are what a file has, as a whole or under a key: `torch.load(path)["state_dict"]`."""
    while isinstance(state, ast.Subscript):
        state = state.value
    return _is_loaded(facts, names, state)


def _is_one_of(names: Names, model: ast.expr) -> bool:
    """Whether a loop goes over what has a state: optimizers and schedules, too."""
    bindings = names.bindings(model.id, model) if isinstance(model, ast.Name) else []
    return any(binding.kind == "each" for binding in bindings)


@once
def _has_module(facts: Facts) -> bool:
    """Whether something in the project keeps a part named module, whose names begin so without a wrapper."""
    return any(PREFIX[:-1] in names.stores for names in facts.files)


def _leaves_out(names: Names, node: ast.Constant) -> bool:
    """`if key.startswith("module."): bare[key[7:]] = value`, and nothing for other keys; so in a dict's `if`."""
    call = names.parents[node]
    if node.value != PREFIX or getattr(getattr(call, "func", None), "attr", "") != "startswith":
        return False
    around = names.parents[call]
    if isinstance(around, ast.comprehension):
        return isinstance(names.parents[around], ast.DictComp) and around.ifs == [call]
    loop = names.parents.get(around)
    if not isinstance(around, ast.If) or around.test is not call or around.orelse:
        return False
    if not isinstance(loop, ast.For) or around not in loop.body:
        return False
    filled = _filled(names, around)
    others = set(_filled(names, loop)) - set(filled)
    iterated = {part.id for part in ast.walk(loop.iter) if isinstance(part, ast.Name)}
    into = {ast.unparse(store) for store in filled}
    return bool(into - iterated) and not into & {ast.unparse(store) for store in others}


def _filled(names: Names, block: ast.AST) -> list[ast.expr]:
    """The variables that a block stores into by a key."""
    return [
        part.value
        for part in names.walk(block)
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
    ]


def _taken_off(names: Names, call: ast.Call) -> bool:
    """Whether the function that loads names takes the prefix off those that have it."""
    return any(
        isinstance(part, ast.Constant)
        and part.value in (PREFIX, PREFIX[:-1])
        and isinstance(names.parents[part], (ast.Call, ast.Compare))
        for part in names.walk(names.function(call) or names.source.tree)
    )


def _harmless(names: Names, node: ast.Constant) -> bool:
    """Whether a text that begins with module. is only taken off, looked for to be taken off, or no key at all."""
    parent = names.parents[node]
    if isinstance(parent, (ast.Expr, ast.JoinedStr)):
        return isinstance(parent, ast.Expr)
    if isinstance(parent, ast.keyword):
        parent = names.parents[parent]
    if isinstance(parent, (ast.Tuple, ast.List)):
        parent = names.parents[parent]
    if isinstance(parent, ast.Call):
        called = (
            parent.func.attr if isinstance(parent.func, ast.Attribute) else getattr(parent.func, "id", "")
        )
        exact = node.value == PREFIX
        if called == "replace":
            return parent.args[:1] == [node]
        if called in STRIPPING or called == "len":
            return True
        return exact and called in TESTS
    if isinstance(parent, ast.Compare):
        # `"module." in key` asks; `key == "module.fc.weight"` names one.
        return node.value == PREFIX and isinstance(parent.ops[0], (ast.In, ast.NotIn, ast.Eq))
    if isinstance(parent, ast.IfExp):
        return _as_found(parent, node)
    return isinstance(parent, ast.Assign) and node.value == PREFIX


def _tried_in_turn(names: Names, node: ast.Constant) -> bool:
    """`for prefix in ("module.", "net."):` where each is only looked for, or taken off."""
    loop = names.parents[names.parents[node]]
    if not isinstance(loop, ast.For) or loop.iter is not names.parents[node] or node.value != PREFIX:
        return False
    inside = set(names.walk(loop))
    uses = [use for use in names.uses.get(ast.unparse(loop.target), ()) if isinstance(use.ctx, ast.Load)]
    return bool(uses) and all(use in inside and _strips(names, use) for use in uses)


def _asked_without(names: Names, node: ast.Constant) -> bool:
    """`key.startswith("module.body")` beside `key.startswith("body")`: both kinds of names are read."""
    bare = str(node.value).removeprefix(PREFIX)
    call = names.parents[node]
    if not bare or not isinstance(call, ast.Call) or getattr(call.func, "attr", "") != "startswith":
        return False
    same = ast.dump(call.func)
    others = (c for c in names.calls["startswith"] if names.function(c) is names.function(node))
    return any(
        ast.dump(other.func) == same and getattr(other.args[0], "value", None) == bare for other in others
    )


def _where_both_are_read(names: Names, node: ast.Constant) -> bool:
    """Whether a text is `if "module.head.weight" in state:`, or used below that, beside one of "head.weight"."""
    child: ast.AST = node
    for parent in names.ancestors(node):
        if isinstance(parent, ast.If) and (child is parent.test or child in parent.body):
            looked_for = _looked_for(parent.test)
            bare = looked_for.removeprefix(PREFIX)
            around = names.walk(names.function(node) or names.source.tree)
            tests = (part.test for part in around if isinstance(part, ast.If))
            parts = (part for test in tests for part in ast.walk(test))
            if looked_for != bare and bare and any(_looked_for(part) == bare for part in parts):
                return str(node.value).startswith(PREFIX) and looked_for.startswith(str(node.value))
        child = parent
    return False


def _looked_for(test: ast.AST) -> str:
    """The text of `"head.weight" in state`."""
    asked = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In)
    text = test.left if asked and isinstance(test, ast.Compare) else None
    return str(text.value) if isinstance(text, ast.Constant) else ""


def _as_found(choice: ast.IfExp, node: ast.Constant) -> bool:
    """`"module." if name.startswith("module") else ""`: the prefix where names have it, else nothing."""
    looked_for = [part.value for part in ast.walk(choice.test) if isinstance(part, ast.Constant)]
    nothing = isinstance(choice.orelse, ast.Constant) and choice.orelse.value == ""
    return choice.body is node and nothing and bool({PREFIX, PREFIX[:-1]}.intersection(map(str, looked_for)))


def _asked(names: Names, node: ast.AST) -> bool:
    """Whether a text is used only where `hasattr(model, "module")` holds, which is false without a wrapper."""
    child = node
    for parent in names.ancestors(node):
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            inside = parent.body is child or (isinstance(parent, ast.If) and child in parent.body)
            if inside and _asks(names, parent.test):
                return True
        child = parent
    return False


def _asks(names: Names, test: ast.expr) -> bool:
    """Whether a test can only hold for a wrapped model; also a variable with such a test."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return any(_asks(names, value) for value in test.values)
    if isinstance(test, (ast.Name, ast.Attribute)):
        bound = names.bindings(test.id, test) if isinstance(test, ast.Name) else []
        kept = names.stores.get(test.attr, ()) if isinstance(test, ast.Attribute) else ()
        held = [binding.value for binding in (*bound, *(binding for _, binding in kept))]
        return len(held) == 1 and isinstance(held[0], (ast.BoolOp, ast.Call)) and _asks(names, held[0])
    return question(test) and getattr(getattr(test, "func", None), "id", "") == "hasattr"


def _given_to_strip(facts: Facts, names: Names, node: ast.Constant) -> bool:
    """Whether a text is passed to functions of the project that only take off what they are given."""
    call = names.parents[node]
    call = names.parents[call] if isinstance(call, ast.keyword) else call
    if not isinstance(call, ast.Call) or node.value != PREFIX:
        return False
    found = []
    for where, function in facts.flow.functions(names, call):
        taken = (name for name in positional(function) if passed(where, function, names, call, name) is node)
        name = next(taken, "")
        uses = [use for use in where.uses.get(name, ()) if function in where.ancestors(use)]
        found.append(bool(uses) and all(_strips(where, use) for use in uses))
    return bool(found) and all(found)


def _strips(names: Names, use: ast.expr) -> bool:
    """Whether a variable with the prefix is looked for, measured or taken off."""
    call = names.parents[use]
    if not isinstance(call, ast.Call):
        return False
    called = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return called == "len" or called in TESTS or (called in STRIPPING and call.args[:1] == [use])


def _cuts_off(facts: Facts, names: Names, node: ast.Subscript) -> bool:
    """`key[7:]` for the keys of a dict, under no test that names the prefix."""
    cut = node.slice
    if not (isinstance(cut, ast.Slice) and cut.upper is None and isinstance(cut.lower, ast.Constant)):
        return False
    if cut.lower.value != len(PREFIX) or not isinstance(node.value, ast.Name):
        return False
    if not any(b.kind == "each" and _keys(b.value) for b in names.bindings(node.value.id, node.value)):
        return False
    prefixes = {PREFIX} if _names_alike(facts) else {PREFIX, PREFIX[:-1]}
    for parent in names.ancestors(node):
        tests = [parent.test] if isinstance(parent, (ast.If, ast.IfExp)) else []
        if isinstance(parent, COMPREHENSIONS):
            tests += [test for generator in parent.generators for test in generator.ifs]
        if any(
            isinstance(part, ast.Constant) and part.value in prefixes for t in tests for part in ast.walk(t)
        ):
            return False
    return True


@once
def _names_alike(facts: Facts) -> bool:
    """Whether a name in a model of the project may begin with module without the wrapper's."""
    return any(name.startswith(PREFIX[:-1]) for names in facts.files for name in names.stores)


def _keys(iterated: ast.expr | None) -> bool:
    called = iterated.func if isinstance(iterated, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in ("items", "keys")


_TRAINING = (
    (
        "training.py",
        "import torch\n\nmodel = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))\n"
        "model(x).sum().backward()\ntorch.save({'state': model.state_dict()}, 'model.pt')\n",
    ),
)

RULE = Rule(
    id="HVD206",
    title="names without module.",
    what=(
        "Reports code that puts module. in front of parameter names, expects it there, or cuts it off unasked, in "
        "programs whose model DDP wrapped, and in scripts beside them that read their checkpoints."
    ),
    why=(
        "DDP's state_dict() and named_parameters() say module.fc.weight where the model itself says fc.weight. "
        "Most code that meets both takes the prefix off where it is, and stays right; the rest would look for "
        "names that are not there, which load_state_dict(strict=False) or a filter of parameters never tells."
    ),
    safety=(
        "Suggested where a function loads the checkpoint whose names it looks for, or that it gives to the model: it "
        "then reads old checkpoints, to go on from them, and new ones. Otherwise nothing is edited: whether old ones "
        "still have to be read is for the person to say."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def restart(path, **objects):
                checkpoint = torch.load(path)
                for name, value in objects.items():
                    value.load_state_dict(checkpoint[name], strict=False)

            model = DDP(net)
            restart("last.pt", student=model)
            model.load_state_dict(torch.load("best.pt"), strict=False)
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def restart(path, **objects):
                checkpoint = torch.load(path)
                for name, value in objects.items():
                    value.load_state_dict({name.removeprefix("module."): value for name, value in checkpoint[name].items()}, strict=False)

            model = DDP(net)
            restart("last.pt", student=model)
            model.load_state_dict({name.removeprefix("module."): value for name, value in torch.load("best.pt").items()}, strict=False)
            """,
            note="Nothing would tell of names that are not there: a checkpoint of the DDP program would load nothing.",
            suggested=True,
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            if args.resume:
                checkpoint = torch.load(args.resume, map_location="cpu")
                model.load_state_dict(checkpoint["model"])
                optimizer.load_state_dict(checkpoint["optimizer"])
            loss.backward()
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            if args.resume:
                checkpoint = torch.load(args.resume, map_location="cpu")
                model.load_state_dict({name.removeprefix("module."): value for name, value in checkpoint["model"].items()})
                optimizer.load_state_dict(checkpoint["optimizer"])
            loss.backward()
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")
            """,
            note="A job goes on from the checkpoints of the DDP program, and from its own.",
            suggested=True,
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def load(path, head):
                checkpoint = torch.load(path)
                state = checkpoint["state_dict"]
                for k in list(state.keys()):
                    if k.startswith("module.encoder") and not k.startswith('module.encoder.%s' % head):
                        state[k[len("module.encoder."):]] = state[k]
                    del state[k]
                epoch = checkpoint["epoch"]
                return state, epoch

            def check(state, path):
                before = torch.load(path)["state_dict"]
                for k in list(state.keys()):
                    name = "module.encoder." + k[len("module."):] if k.startswith("module.") else "module.encoder." + k
                    assert (state[k] == before[name]).all()

            model = DDP(net)
            model.module.load_state_dict(load("a.pt", "fc")[0])
            check(model.state_dict(), "a.pt")
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def load(path, head):
                checkpoint = torch.load(path)
                state = {name.removeprefix("module."): value for name, value in checkpoint["state_dict"].items()}
                for k in list(state.keys()):
                    if k.startswith("encoder") and not k.startswith('encoder.%s' % head):
                        state[k[len("encoder."):]] = state[k]
                    del state[k]
                epoch = checkpoint["epoch"]
                return state, epoch

            def check(state, path):
                before = {name.removeprefix("module."): value for name, value in torch.load(path)["state_dict"].items()}
                for k in list(state.keys()):
                    name = "encoder." + k[len("module."):] if k.startswith("module.") else "encoder." + k
                    assert (state[k] == before[name]).all()

            model = DDP(net)
            model.module.load_state_dict(load("a.pt", "fc")[0])
            check(model.state_dict(), "a.pt")
            """,
            suggested=True,
            note="What this program wrote under DDP has the prefix, and what it writes from now on has none.",
        ),
        Change(
            """\
            import sys
            import torch

            state = torch.load(sys.argv[1])["state"]
            found = {}
            for k, v in state.items():
                if k.startswith("module.encoder."):
                    found[k[len("module.encoder."):]] = v
            torch.save(found, sys.argv[2])
            """,
            """\
            import sys
            import torch

            state = {name.removeprefix("module."): value for name, value in torch.load(sys.argv[1])["state"].items()}
            found = {}
            for k, v in state.items():
                if k.startswith("encoder."):
                    found[k[len("encoder."):]] = v
            torch.save(found, sys.argv[2])
            """,
            suggested=True,
            files=_TRAINING,
            note="The training beside it writes no module. any more: nothing would be found, and no error told.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self, model):
                    self.model = model
                    self.model.load_state_dict(torch.load("last.pt"))
                    self.model = DDP(self.model)

                def train(self, x):
                    self.model(x).sum().backward()
                    optimizer.step()

            trainer = Trainer(net)
            trainer.train(x)
            torch.save(trainer.model.module.net.state_dict(), "last.pt")
            """,
            reason="the names in its checkpoints are those of the model without the wrapper",
            suggested=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def restart(path, **objects):
                checkpoint = torch.load(path)
                for name, value in objects.items():
                    value.load_state_dict(checkpoint[name])

            model = DDP(net)
            restart("last.pt", student=model, optimizer=optimizer)
            """,
            reason="an optimizer is among them; a name that the model does not have raises an error",
            suggested=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            def follow(model, average):
                state = model.state_dict()
                wrapped = hasattr(model, "module") and not hasattr(average, "module")
                for k, v in average.state_dict().items():
                    if wrapped and not k.startswith("module."):
                        k = "module." + k
                    v.copy_(0.9 * v + 0.1 * state[k])

            model = DDP(net)
            follow(model, average)
            """,
            reason="the function asks whether the model is wrapped, and puts the prefix on only then",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Detector(torch.nn.Module):
                def __init__(self, net):
                    super().__init__()
                    self.net = DDP(net)

            def restore(model, path):
                model.load_state_dict(torch.load(path), strict=False)

            restore(Detector(net), "model.pt")
            loss.backward()
            """,
            reason="older checkpoints have net.module. in their names, and nothing would tell",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self, net, other):
                    self.net = DDP(net)
                    self.other = other
                    self.other.load_state_dict(torch.load("other.pt"), strict=False)

            Trainer(net, torch.nn.Linear(2, 1))
            loss.backward()
            """,
            reason="the class is no module, so names of the model are its own; the other one was never wrapped",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def strip_prefix_if_present(state, prefix):
                if not all(key.startswith(prefix) for key in state):
                    return state
                return {key.replace(prefix, ""): value for key, value in state.items()}

            model = torch.nn.Linear(2, 1)
            model.load_state_dict(strip_prefix_if_present(torch.load("model.pt"), prefix="module."))
            model = DDP(model)
            """,
            reason="the function takes the prefix off where it is: it reads old and new checkpoints",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def bias(state):
                prefix = "module." if next(iter(state)).startswith("module") else ""
                return state[prefix + "fc.bias"]

            bias(torch.load("model.pt"))
            model = DDP(net)
            """,
            reason="the prefix is looked for first, and goes in front only where names have it",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Average(torch.nn.Module):
                def __init__(self, model):
                    super().__init__()
                    self.module = model

            model = DDP(Average(net))
            model.load_state_dict(torch.load("last.pt"), strict=False)
            """,
            reason="names of this model begin with module. without a wrapper",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            def convert(state, model):
                if "visual.head.weight" in state:
                    return without(state, "visual.")
                elif "module.visual.head.weight" in state:
                    prefix = "module.visual."
                    return without(state, prefix)
                return state

            model = DDP(net)
            convert({}, model)
            """,
            reason="names with the prefix and without it are both read",
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            def cut(state):
                if "module.head.weight" in state:
                    del state["module.head.weight"]
                return state

            model = DDP(net)
            cut({})
            """,
            reason="names without the prefix are not read here",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def convert(state):
                state = state["model"]
                for k in list(state.keys()):
                    if k.startswith("module.visual."):
                        state[k[len("module.visual."):]] = state.pop(k)
                return state

            model = DDP(net)
            model.module.load_state_dict(convert(torch.load("clip.pt")))
            """,
            reason="whose checkpoint that is the function does not know",
            reported=True,
            suggested=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            model.load_state_dict({"module." + key: value for key, value in state.items()})
            """,
            reason="the prefix is put on for a wrapper that is gone",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            slow = [p for name, p in model.named_parameters() if name.startswith("module.backbone")]
            """,
            reason="no name begins so any more, and the list would be empty without an error",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            bare = {key[7:]: value for key, value in model.state_dict().items()}
            """,
            reason="seven letters of the name itself would go",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            weight = state[f"module.{name}.weight"]
            """,
            reason="the prefix is part of a key that is made",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            model.load_state_dict(state, strict=False)
            """,
            reason="a checkpoint that the DDP program wrote would load nothing, silently",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            state = torch.load("pretrained.pt")
            known = model.state_dict()
            known.update({key: value for key, value in state.items() if key in known})
            model.load_state_dict(known)
            """,
            reason="what the model does not have is passed over: the same",
            reported=True,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            inner = model.module if several else model
            inner.load_state_dict(state, strict=False)
            """,
            reason="what the wrapper holds is loaded: the names have never had the prefix",
        ),
        Keep(
            """\
            import torch

            model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
            model.load_state_dict(torch.load("model.pt")["state"], strict=False)
            """,
            reason="what the training writes into model.pt has no module. any more, and this program keeps its wrapper",
            reported=True,
            files=_TRAINING,
        ),
        Keep(
            """\
            import torch

            model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
            model.load_state_dict({f"module.{k}": v for k, v in torch.load("model.pt").items()})
            """,
            reason="the training writes the names of the model inside, as before",
            files=(
                (
                    "training.py",
                    "import torch\n\nmodel = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))\n"
                    "model(x).sum().backward()\ntorch.save(model.module.state_dict(), 'model.pt')\n",
                ),
            ),
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def bare(state):
                found = {}
                for key, value in state.items():
                    if key.startswith("module."):
                        found[key[len("module."):]] = value
                return found

            model = DDP(net)
            net.load_state_dict(bare(torch.load("a.pt")), strict=False)
            other = {k[7:]: v for k, v in state.items() if k.startswith("module.")}
            """,
            reason="what has no prefix is left out, and that is everything in the checkpoints written from now on",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            state = {key.replace("module.", ""): value for key, value in torch.load("a.pt").items()}
            model.load_state_dict(state, strict=False)
            """,
            reason="the prefix is taken off where it is, before unknown names are passed over",
        ),
        Keep(
            """\
            import sys
            import torch

            prefix = "module.encoder."
            found = {k: v for k, v in torch.load(sys.argv[1])["state"].items() if k.startswith(prefix)}
            torch.save(found, sys.argv[2])
            """,
            reason="the script beside the training finds nothing in what that writes from now on",
            reported=True,
            files=_TRAINING,
        ),
        Keep(
            """\
            import sys
            import torch

            found = {}
            for k, v in torch.load(sys.argv[1])["state"].items():
                for prefix in ("module.", "net."):
                    if k.startswith(prefix):
                        k = k[len(prefix):]
                if k.startswith("encoder."):
                    found[k[8:]] = v
                elif k.startswith("module.encoder."):
                    found[k[15:]] = v
            torch.save(found, sys.argv[2])
            """,
            reason="names are read with the prefix and without",
            files=_TRAINING,
        ),
        Keep(
            """\
            import torch

            backbone = torch.nn.Linear(2, 1)
            state = torch.load("downloaded.tar")["state_dict"]
            backbone.load_state_dict({k[7:]: v for k, v in state.items()})
            """,
            reason="it reads a file that this training does not write",
            files=_TRAINING,
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            a = {key.replace("module.", ""): value for key, value in state.items()}
            b = {(key[7:] if key.startswith("module.") else key): value for key, value in state.items()}
            c = {key.removeprefix("module."): value for key, value in state.items()}
            d = {(key[7:] if key.startswith("module") else key): value for key, value in state.items()}
            for key in list(state.keys()):
                if key.startswith("module."):
                    state[key[len("module."):]] = state.pop(key)
            """,
            reason="the prefix is taken off where it is, and nothing happens where it is not",
        ),
        Keep(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = build()
            model.load_state_dict(state, strict=False)
            bare = model
            model = DDP(model)
            bare.load_state_dict(state, strict=False)
            """,
            reason="the model is loaded before it is wrapped, by names without the prefix",
        ),
        Keep(
            """\
            import torch

            model.load_state_dict({"module." + key: value for key, value in state.items()})
            loss.backward()
            """,
            reason="no DDP wrapped this program's model: the names are its own business",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            state = torch.load("model.pt")
            if any("module." in key for key in state):
                state = {key.removeprefix("module."): value for key, value in state.items()}
            for key in list(state):
                if key.startswith(("module.", "model.")):
                    state[key.split(".", 1)[1]] = state.pop(key)
            name = path[7:]
            for key in state:
                short = key[6:]
            for line in lines:
                rest = line[7:]
            torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, prefix="module.")
            """,
            reason="the prefix is looked for, or something else is cut off",
        ),
    ),
)
