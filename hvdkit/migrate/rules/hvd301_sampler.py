"""HVD301: DistributedSampler is told rank and size, which it would ask the process group for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts, Site
from hvdkit.migrate.facts.data.sampler_classes import Chosen, after_start, bound_early, chosen
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import default, positional
from hvdkit.migrate.values.vocabulary import ASKING_SAMPLERS, SAMPLER
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

EARLY = "create it after hvd.init(), where the ranks are known, and pass num_replicas=hvd.size() and rank=hvd.rank()"
ADVICE = "pass num_replicas=hvd.size() and rank=hvd.rank() where the class is DistributedSampler"


def check(facts: Facts) -> Iterator[Finding]:
    plain = [(site, ASKING_SAMPLERS[site.name] - 1) for site in facts.calls(*ASKING_SAMPLERS)]
    for site, first in (*plain, *_derived(facts)):
        missing = _missing(facts, site, first)
        if missing:
            message = f"DistributedSampler gets {' and '.join(missing)}: there is no process group to ask"
            yield safe(facts, "HVD301", site.names, site.node, message, _edits, facts, site, missing)
    for choice in chosen(facts):
        yield from _of_chosen(facts, choice)
    for names, call, position in bound_early(facts):
        site = Site(names, call, SAMPLER)
        if missing := _missing(facts, site, position - 1):
            message = f"DistributedSampler gets {' and '.join(missing)}: there is no process group to ask"
            if after_start(facts, names, call):
                added = list(missing.values())
                source = names.source
                yield safe(facts, "HVD301", names, call, message, edits.add_arguments, source, call, added)
            else:
                yield manual("HVD301", names, call, message, EARLY)


def _of_chosen(facts: Facts, choice: Chosen) -> Iterator[Finding]:
    """A sampler of a class that a variable holds: the call is told, or the class where it is chosen."""
    names, call = choice.names, choice.call
    missing = _missing(facts, Site(names, call, SAMPLER), choice.first - 1)
    if not missing:
        return
    message = f"DistributedSampler gets {' and '.join(missing)}: there is no process group to ask"
    if choice.problem:
        yield manual("HVD301", names, call, f"{message}; {choice.problem}", ADVICE)
    elif choice.choice is None:
        added = list(missing.values())
        yield safe(facts, "HVD301", names, call, message, edits.add_arguments, names.source, call, added)
    else:
        yield safe(
            facts, "HVD301", names, choice.choice, message, _told, facts, names, choice.choice, missing
        )


def _told(facts: Facts, names: Names, choice: ast.expr, missing: dict[str, str]) -> list[Edit]:
    """The class as a function that tells it, which the others it is chosen among are not to be told."""
    added = ", ".join(missing.values())
    return edits.wrap(names.source, choice, "(lambda data, **options: ", f"(data, {added}, **options))")


def _derived(facts: Facts) -> Iterator[tuple[Site, int]]:
    """Where a project class that derives from DistributedSampler passes, or is passed, its arguments.

    Each with the position of the first that is DistributedSampler's.
    """
    for names in facts.files:
        for owner in [node for node in names.scopes if isinstance(node, ast.ClassDef)]:
            if not any(SAMPLER in facts.flow.qualified(names, base) for base in owner.bases):
                continue
            first: int | None = 0
            if "__init__" in names.scopes[owner].names:
                first = None
                for call in names.calls.get("__init__", ()):
                    above = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call)
                    if above and owner in names.ancestors(call):
                        yield Site(names, call, SAMPLER), 0
                        first = _hands_on(names, call) if first is None else first
            if first is None:
                continue
            for other in facts.files:
                for call in other.calls.get(owner.name, ()):
                    if any(value.node is owner for value in facts.flow.values(other, call.func)):
                        yield Site(other, call, owner.name), first


def _hands_on(names: Names, call: ast.Call) -> int | None:
    """For a class that hands rank and size on: how many arguments it takes before those of DistributedSampler."""
    function = names.function(call)
    if not isinstance(function, ast.FunctionDef):
        return None
    if _by_name(names, function, call):
        return positional(function).index("num_replicas") - 2
    if function.args.vararg is None or function.args.kwarg is None:
        return None
    spread = [arg.value for arg in call.args if isinstance(arg, ast.Starred)]
    spread += [keyword.value for keyword in call.keywords if keyword.arg is None]
    given = [getattr(value, "id", "") for value in spread]
    if (
        given != [function.args.vararg.arg, function.args.kwarg.arg]
        or len(call.args) + len(call.keywords) > 2
    ):
        return None
    return len(function.args.posonlyargs) + len(function.args.args) - 1


def _by_name(names: Names, function: ast.FunctionDef, call: ast.Call) -> bool:
    """Whether parameters num_replicas=None and rank=None, one after the other, go on as they come."""
    order = positional(function)
    if "num_replicas" not in order or order[order.index("num_replicas") + 1 :][:1] != ["rank"]:
        return False
    handed = [*call.args[1:3], *(keyword.value for keyword in call.keywords)]
    for wanted in ("num_replicas", "rank"):
        arg = next(arg for arg in function.args.args if arg.arg == wanted)
        absent = default(function, arg)
        if not isinstance(absent, ast.Constant) or absent.value is not None:
            return False
        if not any(isinstance(value, ast.Name) and value.id == wanted for value in handed):
            return False
        if len(names.scopes[function].names.get(wanted, ())) != 1:
            return False
    return True


def _missing(facts: Facts, site: Site, first: int) -> dict[str, str]:
    hvd = horovod_name(facts, site.names)
    given = {keyword.arg for keyword in site.node.keywords}
    if None in given or any(isinstance(arg, ast.Starred) for arg in site.node.args):
        return {}
    missing = {}
    for position, (name, value) in enumerate((("num_replicas", "size"), ("rank", "rank")), start=first + 1):
        if name not in given and len(site.node.args) <= position:
            missing[name] = f"{name}={hvd}.{value}()"
    return missing


def _edits(facts: Facts, site: Site, missing: dict[str, str]) -> list[Edit]:
    source = site.names.source
    direct = SAMPLER in facts.flow.qualified(site.names, site.node.func)
    if direct and facts.options.target == "hvdkit" and len(missing) == 2:
        return [
            edits.replace(source, site.node.func, f"{horovod_name(facts, site.names)}.DistributedSampler")
        ]
    return [edits.add_arguments(source, site.node, list(missing.values()))]


RULE = Rule(
    id="HVD301",
    title="DistributedSampler gets rank and size from Horovod",
    what="Adds num_replicas=hvd.size() and rank=hvd.rank() to DistributedSampler calls that leave them out.",
    why="Without them the sampler asks torch.distributed, which has not been initialized.",
    safety="Safe: the same shares in the same order as under DDP.",
    check=check,
    changes=(
        Change(
            """\
            from torch.utils.data.distributed import DistributedSampler

            sampler = DistributedSampler(dataset, shuffle=False)
            """,
            """\
            import horovod.torch as hvd
            from torch.utils.data.distributed import DistributedSampler

            sampler = DistributedSampler(dataset, shuffle=False, num_replicas=hvd.size(), rank=hvd.rank())
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            from torch.utils.data import DistributedSampler

            class Weighted(DistributedSampler):
                def __init__(self, dataset, num_replicas, rank):
                    super().__init__(dataset, num_replicas=num_replicas, rank=rank)
            """,
            reason="a class of the project's own is given both and passes them on",
        ),
    ),
)
