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
from truth.loops import train_pass, training_loop

TRAINED, VALIDATED, BATCH = 40, 10, 4  # samples of a data set, samples of a batch
MORE_EPOCHS = 2  # that each run is asked for beside those of the run before, whose files it finds


def epochs_of(choices: Choices) -> int:
    """How many epochs a program is asked for; one that stops early is asked for more than it needs."""
    return 3 if choices["stop"] == "none" else 8


def options(choices: Choices, epochs: int) -> list[str]:
    """The command line that asks a program for this many epochs."""
    command = ["train"] if choices["config"] == "subparsers" else []
    if choices["config"] == "yaml":
        return ["--config", f"config{epochs}.yaml"]
    return [*command, "--epochs", str(epochs)]


def alone_options(choices: Choices) -> list[str]:
    """What more a program is told where it runs as one process."""
    return {"no-ddp": ["--noddp"], "gpu-list": ["--gpus", "0"]}.get(choices["launch"], [])


def files(choices: Choices) -> dict[str, str]:
    """The program's files by name; it starts with train.py."""
    common = part.network(choices) + part.validation(choices)
    configs = {}
    if choices["config"] == "yaml":
        asked = [epochs_of(choices) + more for more in range(0, 4 * MORE_EPOCHS, MORE_EPOCHS)]
        configs = {f"config{epochs}.yaml": f"epochs: {epochs}\nlr: 0.05\n" for epochs in asked}
        configs["config.yaml"] = configs[f"config{asked[0]}.yaml"]
    if choices["inference"] == "none":
        return {"train.py": _tidy(_imports(choices), common, _training(choices)), **configs}
    shared = ["from common import Net, validate"]
    return {
        "common.py": _tidy(["import torch", "import torch.nn as nn"], common),
        "train.py": _tidy([*_imports(choices), *shared], _training(choices)),
        "infer.py": _tidy(["import torch", *shared], part.inference(choices)),
        **configs,
    }


def _imports(choices: Choices) -> list[str]:
    told = ["argparse", "copy", "csv", "glob", "json", "math", "os", "random"]
    lines = [f"import {name}" for name in told]
    lines += ["import yaml", "from dataclasses import dataclass", "from types import SimpleNamespace"]
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
    written = STYLES[choices["style"]](choices, setup)
    if choices["config"] == "dictionary":
        written = [re.sub(r"((?:self\.)?\bargs)\.(\w+)", r"\1['\2']", line) for line in written]
    return above + written


def _plain(lines: list[str]) -> list[str]:
    return [line.replace("$", "") for line in lines]


def _indented(lines: list[str], by: int = 4) -> list[str]:
    return textwrap.indent("\n".join(lines), " " * by).splitlines()


def _script(choices: Choices, setup: list[str]) -> list[str]:
    if choices["launch"] == "spawn":
        return _function(choices, setup)
    return ["args = parse()", *_plain([*setup, *training_loop(choices)])]


def _function(choices: Choices, setup: list[str]) -> list[str]:
    body = _indented(_plain([*setup, *training_loop(choices)]))
    if choices["launch"] == "spawn":
        return ["def worker(rank, world_size, args):", *body, "", *part.spawned("worker")]
    return ["def main(args):", *body, "", "", *MAIN, "    main(parse())"]


MAIN = ['if __name__ == "__main__":']


def _attributes(lines: list[str]) -> list[str]:
    return _indented([re.sub(r"\$(\w+)", r"self.\1", line) for line in lines], 8)


def _class(choices: Choices, setup: list[str]) -> list[str]:
    return _trainer(choices, setup, ["    def train(self):", *_attributes(training_loop(choices))])


def _methods(choices: Choices, setup: list[str]) -> list[str]:
    """A class with a method for an epoch."""
    return _trainer(choices, setup, [*_epoch(choices), "", *_fit(choices)])


def _base_class(choices: Choices, setup: list[str]) -> list[str]:
    """A class whose base calls the method that trains an epoch."""
    base = ["class Base:", "    def train_epoch(self, epoch):", "        raise NotImplementedError", ""]
    return [*base, *_fit(choices), "", "", *_trainer(choices, setup, _epoch(choices), "(Base)")]


def _epoch(choices: Choices) -> list[str]:
    result = "losses" if choices["stop"] == "meter" else "total"
    if choices["stop"] == "meter" and choices["reduce"] != "none":
        result = "losses, total"
    return ["    def train_epoch(self, epoch):", *_attributes([*train_pass(choices), f"return {result}"])]


def _fit(choices: Choices) -> list[str]:
    result = _epoch(choices)[-1].split("return ")[1]
    loop = training_loop(choices, [f"{result} = self.train_epoch(epoch)"])
    return ["    def train(self):", *_attributes(loop)]


def _trainer(choices: Choices, setup: list[str], methods: list[str], bases: str = "") -> list[str]:
    spawned = choices["launch"] == "spawn"
    begin = "rank, world_size, args" if spawned else "args"
    lines = [f"class Trainer{bases}:", f"    def __init__(self, {begin}):"]
    lines += [*_attributes(["$args = args", *setup]), "", *methods, "", ""]
    if spawned:
        lines += ["def worker(rank, world_size, args):", "    Trainer(rank, world_size, args).train()"]
        return [*lines, "", "", *part.spawned("worker")]
    return [*lines, *MAIN, "    Trainer(parse()).train()"]


STYLES: dict[str, Callable[[Choices, list[str]], list[str]]] = {
    "script": _script,
    "function": _function,
    "class": _class,
    "methods": _methods,
    "base-class": _base_class,
}
