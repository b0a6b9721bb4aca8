"""HVD206: names of parameters no longer begin with "module.", which code that takes it off or puts it on must know."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.checkpoints.checkpoint_names import (
    holds_wrapped,
    is_of_file,
    loaded_for,
    loads_into_wrapped,
    loop_over_names,
    meets_names,
    passes_over,
    readers,
    reads_names,
    state_loads,
)
from hvdkit.migrate.facts.checkpoints.module_prefix import (
    PREFIX,
    begins_so,
    cuts_off,
    has_part_module,
    leaves_out,
    names_prefix,
    right_without,
    taken_off,
)
from hvdkit.migrate.facts.models.wraps import find_wraps
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import given
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

PUTS_ON = "names of the model's parameters no longer begin with module."
PUTS_ON_ADVICE = "leave module. out: checkpoints that are written from now on have no such prefix"
NOTHING = "unknown names are ignored: a checkpoint with module. in its names loads nothing"
STRIPPED = "older checkpoints are read, too: unknown names are ignored, and nothing would be loaded"
OLDER = "older checkpoints are read, too: their names begin with module., and those of new ones do not"
NOTHING_ADVICE = "strip module. from the names in older checkpoints before they load, then delete this note"
LEFT_OUT = "names that do not begin with module. are dropped here, and none begin with it any more"
LEFT_OUT_ADVICE = 'keep the others under their own names: key.removeprefix("module.") for every key'
INSIDE = "unknown names are ignored: an older checkpoint has .module. in the names of a part that was wrapped"
INSIDE_ADVICE = "remove module. from the names in older checkpoints before they load, then delete this note"
OLDER_INSIDE = "a part of the model was wrapped: names in older checkpoints have .module. inside"
INNER = f'replace(".{PREFIX}", ".")'
STAYS = "this model is wrapped, and the names in the checkpoints that the training writes no longer begin with module."
STAYS_ADVICE = "load into model.module, and strip module. from the names in older checkpoints"
READ_BARE = "checkpoints are read without module., whether or not they contain it"
CUT = "the first part is cut off names that no longer begin with module."
CUT_ADVICE = 'strip the prefix only where it is present: key.removeprefix("module.")'


def check(facts: Facts) -> Iterator[Finding]:
    files = {wrap.names for wrap in find_wraps(facts)}
    programs = [program for program in programs_of(facts) if program.migrates and program.files & files]
    inside = {names for program in programs for names in program.files} | readers(facts)
    for names in (names for names in facts.files if names in inside):
        for node in names.of_kind(ast.Constant, ast.Subscript, ast.Call):
            if isinstance(node, (ast.Subscript, ast.Call)):
                if cuts_off(facts, names, node):
                    yield manual("HVD206", names, node, CUT, CUT_ADVICE)
            elif isinstance(node, ast.Constant) and names_prefix(node):
                yield from _text(facts, names, node)
        yield from _loads(facts, names)
    for names in facts.files:
        for call, model in state_loads(names):
            state = given(call, 0, "state_dict")
            if passes_over(names, call):
                if holds_wrapped(facts, names, model):
                    yield manual("HVD206", names, call, INSIDE, INSIDE_ADVICE)
            elif state is None or not is_of_file(facts, names, state) or has_part_module(facts):
                pass
            elif holds_wrapped(facts, names, model, certain=True):
                yield safe(facts, "HVD206", names, call, OLDER_INSIDE, _bare, names, state, INNER)
    for names, call in loads_into_wrapped(facts):
        yield manual("HVD206", names, call, STAYS, STAYS_ADVICE)


def _text(facts: Facts, names: Names, node: ast.Constant) -> Iterator[Finding]:
    """A text that begins with module."""
    if leaves_out(names, node):
        yield manual("HVD206", names, node, LEFT_OUT, LEFT_OUT_ADVICE)
    elif begins_so(node) and not right_without(facts, names, node):
        loads = loaded_for(facts, names, node)
        if loads:
            yield safe(facts, "HVD206", names, node, READ_BARE, _without, names, node, loads)
        else:
            yield manual("HVD206", names, node, PUTS_ON, PUTS_ON_ADVICE)


def _loads(facts: Facts, names: Names) -> Iterator[Finding]:
    """Loads that find nothing in a checkpoint of the wrapped model: unknown names raise, or nobody is told."""
    for call, model in state_loads(names):
        if not meets_names(facts, names, model) or taken_off(names, call):
            continue
        state = given(call, 0, "state_dict")
        bare = state is not None and is_of_file(facts, names, state) and not has_part_module(facts)
        if passes_over(names, call):
            if bare:
                yield safe(facts, "HVD206", names, call, STRIPPED, _bare, names, state)
            else:
                yield manual("HVD206", names, call, NOTHING, NOTHING_ADVICE)
        elif bare and reads_names(facts, names, model) and not _is_one_of(names, model):
            yield safe(facts, "HVD206", names, call, OLDER, _bare, names, state)


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
                raise edits.CannotEdit("the text is not a plain string")
            found.append(edits.replace(source, text, written[0] + written[1 + len(PREFIX) :]))
    return [*found, *(_bare(names, load) for load in loads)]


def _bare(names: Names, state: ast.expr, how: str = f'removeprefix("{PREFIX}")') -> Edit:
    """A checkpoint's names without the wrapper's."""
    taken = f"{names.source.segment(state)}.items()"
    bare = f"{{name.{how}: value for name, value in {taken}}}"
    return edits.replace(names.source, state, bare)


RULE = Rule(
    id="HVD206",
    title="names without module.",
    what=(
        "Reports code that puts module. in front of parameter names, expects it there, or cuts it off "
        "without a test, in programs whose model DDP wrapped, and in scripts that read their checkpoints."
    ),
    why=(
        "DDP's state_dict() and named_parameters() use module.fc.weight where the model itself uses "
        "fc.weight. Most code that handles both strips the prefix where it is present, and stays right; the "
        "rest would look for names that do not exist, which load_state_dict(strict=False) or a filter of "
        "parameters never reports."
    ),
    safety=(
        "Needed where a function loads the checkpoint whose names it looks for, or that it passes to the "
        "model: it then reads old checkpoints, to resume from them, and new ones. Otherwise nothing is "
        "edited: whether the script must still read old ones is for you to decide."
    ),
    check=check,
    changes=(
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
            note="A job resumes from the checkpoints of the DDP program, and from its own.",
            suggested=True,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            model.load_state_dict({"module." + key: value for key, value in state.items()})
            loss.backward()
            """,
            reason="no DDP wrapped this program's model: the names are its own business",
        ),
    ),
)
