"""HVD206: names of parameters no longer begin with "module.", which code that takes it off or puts it on must know."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.checkpoint_names import (
    holds_wrapped,
    is_of_file,
    loaded_for,
    loads_into_wrapped,
    loop_over_names,
    meets_names,
    passes_over,
    readers,
    state_loads,
    writes_wrapped_with,
)
from hvdkit.migrate.facts.models.module_prefix import (
    PREFIX,
    begins_so,
    cuts_off,
    has_part_module,
    leaves_out,
    right_without,
    taken_off,
)
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.values.arguments import given
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

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
READ_BARE = "checkpoints are read without module., whether they have it or not"
CUT = "the first seven characters are cut off names, which do not begin with module. any more"
CUT_ADVICE = 'take the prefix off only where it is: key.removeprefix("module.")'


def check(facts: Facts) -> Iterator[Finding]:
    files = {wrap.names for wrap in find_wraps(facts)}
    programs = [program for program in facts.programs if program.migrates and program.files & files]
    inside = {names for program in programs for names in program.files} | readers(facts)
    for names in (names for names in facts.files if names in inside):
        for node in names.of_kind(ast.Constant, ast.Subscript):
            if isinstance(node, ast.Subscript):
                if cuts_off(facts, names, node):
                    yield facts.manual("HVD206", names, node, CUT, CUT_ADVICE)
            elif isinstance(node, ast.Constant) and begins_so(node):
                yield from _text(facts, names, node)
        yield from _loads(facts, names)
    for names in facts.files:
        for call, model in state_loads(names):
            if passes_over(names, call) and holds_wrapped(facts, names, model):
                yield facts.manual("HVD206", names, call, INSIDE, INSIDE_ADVICE)
    for names, call in loads_into_wrapped(facts):
        yield facts.manual("HVD206", names, call, STAYS, STAYS_ADVICE)


def _text(facts: Facts, names: Names, node: ast.Constant) -> Iterator[Finding]:
    """A text that begins with module."""
    if leaves_out(names, node):
        yield facts.manual("HVD206", names, node, LEFT_OUT, LEFT_OUT_ADVICE)
    elif not right_without(facts, names, node):
        loads = loaded_for(facts, names, node)
        if loads:
            yield facts.suggested("HVD206", names, node, READ_BARE, _without, names, node, loads)
        else:
            yield facts.manual("HVD206", names, node, PUTS_ON, PUTS_ON_ADVICE)


def _loads(facts: Facts, names: Names) -> Iterator[Finding]:
    """Loads that find nothing in a checkpoint of the wrapped model: unknown names raise, or nobody is told."""
    for call, model in state_loads(names):
        if not meets_names(facts, names, model) or taken_off(names, call):
            continue
        state = given(call, 0, "state_dict")
        bare = state is not None and is_of_file(facts, names, state) and not has_part_module(facts)
        if passes_over(names, call):
            if bare:
                yield facts.suggested("HVD206", names, call, STRIPPED, _bare, names, state)
            else:
                yield facts.manual("HVD206", names, call, NOTHING, NOTHING_ADVICE)
        elif bare and writes_wrapped_with(facts, names) and not _is_one_of(names, model):
            yield facts.suggested("HVD206", names, call, OLDER, _bare, names, state)


def _is_one_of(names: Names, model: ast.expr) -> bool:
    """Whether a loop goes over what has a state: optimizers and schedules, too."""
    bindings = names.bindings(model.id, model) if isinstance(model, ast.Name) else []
    return any(binding.kind == "each" for binding in bindings)


def _without(names: Names, node: ast.Constant, loads: list[ast.expr]) -> list[Edit]:
    """The prefix gone from the texts of a loop, and from the names that are loaded for it."""
    source, found = names.source, []
    for text in names.walk(loop_over_names(names, node) or source.tree):
        if isinstance(text, ast.Constant) and begins_so(text) and text.value != PREFIX:
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
            model = model.module
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
