"""Which files of a project import each other, in any direction: no value gets from one to any other file."""

from __future__ import annotations

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.index.names import Names


@once
def _groups(facts: Facts) -> dict[Names, frozenset[Names]]:
    beside: dict[Names, list[Names]] = {names: [] for names in facts.files}
    reached = [*beside]
    for names in reached:
        for module in facts.project.imports(names):
            if module not in beside:
                beside[module] = []
                reached.append(module)
            beside[names].append(module)
            beside[module].append(names)
    groups: dict[Names, frozenset[Names]] = {}
    for names in beside:
        if names in groups:
            continue
        found, waiting = {names}, [names]
        while waiting:
            others = [other for other in beside[waiting.pop()] if other not in found]
            found.update(others)
            waiting += others
        groups.update(dict.fromkeys(found, frozenset(found)))
    return groups


def connected(facts: Facts, names: Names) -> frozenset[Names]:
    """A file and those that import each other with it, in any direction, through any number of files."""
    return _groups(facts).get(names) or frozenset((names,))
