"""Choices as the files of a program, written as people write them.

Fragments name what they share as `$model`; the style says whether that is a variable or an
attribute of a class.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

from truth import data_parts
from truth import fragments as part
from truth.choices import Choices
from truth.loops import training_loop

TRAINED, VALIDATED, BATCH = 40, 10, 4  # samples of a data set, samples of a batch


def epochs_of(choices: Choices) -> int:
    """How many epochs a program is asked for; one that stops early is asked for more than it needs."""
    return 3 if choices["stop"] == "none" else 8


def files(choices: Choices) -> dict[str, str]:
    """The program's files by name; it starts with train.py."""
    common = part.network(choices) + part.validation(choices)
    if choices["inference"] == "none":
        return {"train.py": _tidy(_imports(choices), common, _training(choices))}
    shared = ["from common import Net, validate"]
    return {
        "common.py": _tidy(["import torch", "import torch.nn as nn"], common),
        "train.py": _tidy([*_imports(choices), *shared], _training(choices)),
        "infer.py": _tidy(["import torch", *shared], part.inference(choices)),
    }


def _imports(choices: Choices) -> list[str]:
    told = ["argparse", "copy", "csv", "glob", "json", "math", "os", "random"]
    lines = [f"import {name}" for name in told]
    lines += ["import torch", "import torch.nn as nn"]
    lines += ["from torch.utils.data import DataLoader, Dataset, RandomSampler, Subset, SubsetRandomSampler"]
    lines += ["from torch.utils.data import WeightedRandomSampler, random_split"]
    if choices.distributed:
        lines += ["import torch.distributed as dist", "import torch.multiprocessing as mp"]
        lines += ["from torch.nn.parallel import DistributedDataParallel as DDP"]
        lines += ["from torch.utils.data.distributed import DistributedSampler"]
    return lines


def _tidy(imports: list[str], *blocks: list[str]) -> str:
    """A file with those of its imports that it uses."""
    body = "\n".join("\n".join(block) for block in blocks)
    used = set(re.findall(r"\w+", body))
    kept = []
    for line in imports:
        front, _, names = line.rpartition("import ")
        mine = [one for one in names.split(", ") if one.split(" as ")[-1].split(".")[0] in used]
        if mine:
            kept.append(f"{front}import {', '.join(mine)}")
    return "\n".join(kept) + "\n\n" + body.strip() + "\n"


def _training(choices: Choices) -> list[str]:
    """All of train.py below its imports and what it shares."""
    above = part.data_set() + part.helpers(choices) + part.arguments(choices, epochs_of(choices))
    setup = [
        *part.launch(choices),
        *part.device(choices),
        *part.seed(choices),
        *part.folder(choices),
        *data_parts.data(choices, TRAINED, VALIDATED),
        *data_parts.loaders(choices, BATCH),
        *part.model(choices),
        *part.optimizer(choices),
        *part.resume(choices),
    ]
    return above + STYLES[choices["style"]](choices, setup, training_loop(choices))


def _plain(lines: list[str]) -> list[str]:
    return [line.replace("$", "") for line in lines]


def _indented(lines: list[str], by: int = 4) -> list[str]:
    return textwrap.indent("\n".join(lines), " " * by).splitlines()


def _script(choices: Choices, setup: list[str], loop: list[str]) -> list[str]:
    body = _plain([*setup, *loop])
    if choices["launch"] == "spawn":
        return _function(choices, setup, loop)
    return ["args = parse()", *body]


def _function(choices: Choices, setup: list[str], loop: list[str]) -> list[str]:
    body = _indented(_plain([*setup, *loop]))
    if choices["launch"] == "spawn":
        return ["def worker(rank, world_size, args):", *body, "", *part.spawned("worker")]
    return ["def main(args):", *body, "", "", 'if __name__ == "__main__":', "    main(parse())"]


def _class(choices: Choices, setup: list[str], loop: list[str]) -> list[str]:
    def attributes(lines: list[str]) -> list[str]:
        return _indented([re.sub(r"\$(\w+)", r"self.\1", line) for line in lines], 8)

    spawned = choices["launch"] == "spawn"
    begin = "rank, world_size, args" if spawned else "args"
    lines = ["class Trainer:", f"    def __init__(self, {begin}):", *attributes(["$args = args", *setup]), ""]
    lines += ["    def train(self):", *attributes(loop), "", ""]
    if spawned:
        lines += ["def worker(rank, world_size, args):", "    Trainer(rank, world_size, args).train()"]
        return [*lines, "", "", *part.spawned("worker")]
    return [*lines, 'if __name__ == "__main__":', "    Trainer(parse()).train()"]


STYLES: dict[str, Callable[[Choices, list[str], list[str]], list[str]]] = {
    "script": _script,
    "function": _function,
    "class": _class,
}
