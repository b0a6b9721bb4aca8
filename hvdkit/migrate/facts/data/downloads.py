"""Calls that download what a program trains on: data sets of libraries, those of the project, and by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import takewhile

from hvdkit.migrate import edits
from hvdkit.migrate.facts.code.callers import on_every_way
from hvdkit.migrate.facts.data.sample_code import DOWNLOAD, asked_to_download, prepared
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.values.arguments import is_on, keyword
from hvdkit.migrate.values.lookups import looked_up_in
from hvdkit.source.index.names import Names

LIBRARIES = ("torchvision.datasets.", "torchaudio.datasets.", "torchtext.datasets.")  # download=True
# Graphs: classes that download, and prepare, what they do not find, unasked.
UNASKED = (
    "torch_geometric.datasets.",
    *(f"ogb.{kind}." for kind in ("nodeproppred", "linkproppred", "graphproppred", "lsc")),
    "dgl.data.",
)
KEPT = ("torch_geometric.loader.ClusterData", "torch_geometric.data.ClusterData")  # parts, in save_dir
MADE_UP = ("Fake", "Random", "KarateClub", "Explainer", "BA", "StochasticBlockModel", "CSV", "DGLDataset")
SHELL = (
    "os.system",
    "os.popen",
    *(f"subprocess.{run}" for run in ("run", "call", "check_call", "check_output")),
)
BARRIERS = ("horovod.torch.barrier", "hvdkit.torch.barrier", "torch.distributed.barrier")
FETCHES = (
    "urllib.request.urlretrieve",
    *(f"torchvision.datasets.utils.download_{what}" for what in ("url", "and_extract_archive")),
    "torchvision.datasets.utils.download_file_from_google_drive",
)


def downloading_sets(facts: Facts) -> Iterator[Site]:
    """The calls that make a data set which downloads, or prepares, what it does not find."""
    called = (*facts.calls(*LIBRARIES), *_derived(facts), *_looked_up(facts))
    yield from (site for site in called if _is_told(site.node))
    yield from filter(_fetches, facts.calls(*UNASKED, *KEPT))
    yield from _preparing(facts)


def downloads_by_hand(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """Downloads by a command of the shell, `os.system("wget " + url)`, by urllib and torchvision."""
    yield from ((site.names, site.node) for site in facts.calls(*FETCHES))
    for site in facts.calls(*SHELL):
        command = site.node.args[0] if site.node.args else None
        while isinstance(command, (ast.BinOp, ast.List, ast.Call, ast.JoinedStr)):
            if isinstance(command, ast.BinOp):
                command = command.left
            elif isinstance(command, ast.Call):  # "wget {}".format(url)
                command = command.func.value if isinstance(command.func, ast.Attribute) else None
            else:
                parts = command.elts if isinstance(command, ast.List) else command.values
                command = parts[0] if parts else None
        if isinstance(command, ast.Constant) and str(command.value).split()[:1] in (["wget"], ["curl"]):
            yield site.names, site.node


def waited_for(facts: Facts, names: Names, node: ast.AST) -> bool:
    """Whether other ranks wait at a barrier while a node runs, here or wherever its function is called."""

    def at(where: Names, place: ast.AST) -> bool | None:
        statement, function = where.statement(place), where.function(place)
        around = (statement, *(p for p in where.ancestors(statement) if isinstance(p, ast.stmt)))
        above = takewhile(lambda each: each is not function, around)
        return True if any(waits(facts, where, edits.preceding(where, each)) for each in above) else None

    return on_every_way(facts, names, node, at)


def waits(facts: Facts, names: Names, statement: ast.stmt | None) -> bool:
    """Whether a statement lets some ranks wait: `if rank != 0: barrier()`."""
    return isinstance(statement, ast.If) and any(
        site.names is names and statement in names.ancestors(site.node) for site in facts.calls(*BARRIERS)
    )


def _derived(facts: Facts) -> Iterator[Site]:
    """Calls of the project's own classes that derive from a library's data sets and are asked to download."""
    for names in (names for names in facts.files if "download" in names.source.text):
        for call in (call for call in names.of_kind(ast.Call) if keyword(call, "download")):
            for value in facts.flow.values(names, call.func):
                if value.kind == "class" and any(b.startswith(LIBRARIES) for b in facts.flow.bases(value)):
                    yield Site(names, call, value.name)


def _looked_up(facts: Facts) -> Iterator[Site]:
    """Calls of a library's data set looked up by a name: `datasets.__dict__[name](root, download=True)`."""
    for names in (names for names in facts.files if "download" in names.source.text):
        for call in (call for call in names.of_kind(ast.Call) if keyword(call, "download")):
            made: list[ast.expr | None] = [call.func]
            if isinstance(call.func, ast.Name):
                made = [binding.value for binding in names.bindings(call.func.id, call)]
            modules = [looked_up_in(part) for part in made]
            if any(f"{name}." in LIBRARIES for part in modules if part for name in names.qualified(part)):
                yield Site(names, call, "")


def _preparing(facts: Facts) -> Iterator[Site]:
    """Calls of the project's own data sets that process what they do not find, or are asked to download."""
    classes = [
        owner
        for names in facts.files
        for owner in names.of_kind(ast.ClassDef)
        if isinstance(owner, ast.ClassDef) and prepared(facts, names, owner)
    ]
    for names in facts.files if classes else ():
        for call in (call for owner in classes for call in names.calls.get(owner.name, ())):
            made = [v for v in facts.flow.values(names, call.func) if v.node in classes]
            if any(
                _is_told(call) or not asked_to_download(facts, value.names, value.node)
                for value in made
                if isinstance(value.node, ast.ClassDef)
            ):
                yield Site(names, call, getattr(call.func, "id", ""))


def _is_told(call: ast.Call) -> bool:
    return is_on(keyword(call, DOWNLOAD))


def _fetches(site: Site) -> bool:
    """Whether a call makes a data set that comes from the net, or keeps what it computes."""
    if site.name in KEPT:
        return keyword(site.node, "save_dir") is not None
    library = next(prefix for prefix in UNASKED if site.name.startswith(prefix))
    kind = site.name[len(library) :]
    datasets = kind.endswith("Dataset") or library == UNASKED[0]
    return kind[:1].isupper() and "." not in kind and datasets and not kind.startswith(MADE_UP)
