"""What is written down of a training: means over what all ranks saw, weighted by how much each saw."""

import json
from pathlib import Path


class Records:
    def __init__(self, comm=None):
        self.comm = comm
        self.sums = {}
        self.lines = []

    def add(self, name, value, count=1):
        total, seen = self.sums.get(name, (0.0, 0))
        self.sums[name] = (total + value * count, seen + count)

    def write(self):
        means = self.sums if self.comm is None else weighted(self.comm, self.sums)
        self.sums = {}
        self.lines.append({name: total / seen for name, (total, seen) in means.items()})

    def save(self, path, more):
        with Path(path).open("w") as file:
            json.dump([self.lines, more], file)


def weighted(comm, sums):
    everyone = comm.gather(sums)
    if comm.rank != 0:
        return {}
    found = {}
    for own in everyone:
        for name, (total, seen) in own.items():
            before = found.get(name, (0.0, 0))
            found[name] = (before[0] + total, before[1] + seen)
    return found
