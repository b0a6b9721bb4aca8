"""One rank: runs a script as python would, and writes down what it did, from outside of it.

Nothing in the script says that it is watched. A sample is known by its content, a training batch by the
forward pass that keeps gradients, an epoch by the loader that is iterated. The machine has two GPUs that are
none: a card that is asked for is written down, and everything stays on the CPU.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import random
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import torch.distributed
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.optim.optimizer import register_optimizer_step_pre_hook

LIMIT = 75.0  # seconds after which a rank that waits for another one ends with its traceback

FACTORIES = ("tensor", "as_tensor", "zeros", "ones", "full", "empty", "arange", "rand", "randn")

seen: dict[str, Any] = {
    "epochs": [],  # of each pass through a loader that was trained on: its samples, in order
    "validations": [],  # of each pass that was not
    "losses": [],  # of each pass that was trained on: the sum of the criterion's values
    "logged": {},  # what metrics.json holds at the end
    "steps": 0,
    "start": [],
    "end": [],
    "cards": [],
    "early_cards": 0,  # asked for before hvd.init()
    "written": [],
    "folders": [],
    "group": False,
    "wrapped": 0,
    "error": "",
}
current = [0]
depth = [0]  # how many networks are being asked, one in the other
LOSSES = nn.modules.loss._Loss
kept: list[nn.Module] = []  # the networks that there were at the first step
# Of each pass: the samples that were trained on and looked at, and the values of the criterion.
passes: list[tuple[list[float], list[float], list[float]]] = [([], [], [])]


def horovod_runs() -> bool:
    """Whether hvd.init() has been called."""
    hvd = sys.modules.get("horovod.torch")
    return bool(hvd and hvd.is_initialized())


def ask(device: Any) -> bool:
    """Write down the card of a device; whether it is one."""
    device = torch.device(device)
    if device.type != "cuda":
        return False
    index = current[0] if device.index is None else device.index
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0,1").split(",")
    card = visible[index] if index < len(visible) else "none"
    if card not in seen["cards"]:
        seen["cards"].append(card)
        seen["early_cards"] += not horovod_runs()
    return True


def pretend(cards: int) -> None:
    """Make torch tell of this many GPUs."""
    os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    tensor_to, module_to, load = torch.Tensor.to, nn.Module.to, torch.load
    torch.cuda.is_available = lambda: cards > 0
    torch.cuda.device_count = lambda: cards

    def set_device(device: Any) -> None:
        current[0] = device if isinstance(device, int) else torch.device(device).index or 0

    def is_card(args: tuple[Any, ...], more: dict[str, Any]) -> bool:
        target = args[0] if args else more.get("device")
        return isinstance(target, (str, torch.device)) and ask(target)

    def cuda(self: Any, device: Any = None, **_: Any) -> Any:
        ask("cuda" if device is None else torch.device("cuda", device) if isinstance(device, int) else device)
        return self

    torch.cuda.set_device = set_device
    torch.cuda.manual_seed = torch.cuda.manual_seed_all = lambda seed: None
    torch.cuda.current_device = lambda: current[0]
    torch.Tensor.to = lambda self, *a, **k: self if is_card(a, k) else tensor_to(self, *a, **k)  # type: ignore[method-assign, assignment]
    nn.Module.to = lambda self, *a, **k: self if is_card(a, k) else module_to(self, *a, **k)  # type: ignore[method-assign, assignment]
    torch.Tensor.cuda = nn.Module.cuda = cuda  # type: ignore[method-assign, assignment]
    for name in FACTORIES:
        setattr(torch, name, _on_cpu(getattr(torch, name)))
    joining = torch.distributed.init_process_group

    def join(*_: Any, **more: Any) -> None:
        joining("gloo", **{name: value for name, value in more.items() if name != "backend"})

    torch.distributed.init_process_group = join
    torch.load = lambda path, *a, **k: load(path, map_location="cpu")


def _on_cpu(make: Any) -> Any:
    """A function of torch that makes a tensor, which asks for the card of `device=` and uses none."""

    def made(*args: Any, **more: Any) -> Any:
        if more.get("device") is not None and ask(more["device"]):
            del more["device"]
        return make(*args, **more)

    return made


def alive(*kinds: type) -> list[Any]:
    """All objects of some classes; by their type, as a lazy stand-in would begin to load when asked."""
    return [one for one in gc.get_objects() if issubclass(type(one), kinds)]


def networks() -> list[nn.Module]:
    """Each module that is no part of another and has parameters."""
    modules = alive(nn.Module)
    parts = {id(part) for one in modules for part in one.children()}
    return [one for one in modules if id(one) not in parts and any(True for _ in one.parameters())]


def weights() -> list[str]:
    """Of each network, its class and a digest of all of its parameters."""
    return sorted(digest(type(one).__name__, one.parameters()) for one in kept)


def digest(name: str, parameters: Iterable[torch.Tensor]) -> str:
    """The name of a network's class, with a number that its weights make."""
    return f"{name} {sum(float(p.detach().double().abs().sum()) for p in parameters):.12g}"


def before_step(*_: Any) -> None:
    """Count the steps; at the first one, all that is to start alike has started."""
    if not seen["steps"]:
        kept.extend(networks())
        seen["start"] = weights()
    seen["steps"] += 1


def entering(module: nn.Module, inputs: tuple[Any, ...]) -> None:
    """Write down the samples that a network sees, by the first number of each: of one that no other calls."""
    depth[0] += 1
    first = inputs[0] if inputs else None
    if depth[0] == 1 and isinstance(first, torch.Tensor) and first.dim() and not isinstance(module, LOSSES):
        samples = first.detach().reshape(len(first), -1)[:, 0].tolist() if first.numel() else []
        passes[-1][0 if torch.is_grad_enabled() else 1].extend(samples)


def leaving(*_: Any) -> None:
    """Count the networks that are being asked, one in the other."""
    depth[0] -= 1


def measured(module: nn.Module, _: tuple[Any, ...], loss: Any) -> None:
    """Write down a loss that is trained on."""
    if isinstance(module, nn.MSELoss) and torch.is_grad_enabled():
        passes[-1][2].append(loss.item())


def passing(through: Any) -> Any:
    """DataLoader.__iter__ that begins a pass."""

    def begin(self: Any) -> Any:
        passes.append(([], [], []))
        return through(self)

    return begin


def opened(event: str, args: tuple[Any, ...]) -> None:
    """An audit hook: files and folders that are made in the folder of the program."""
    if event == "os.mkdir":
        seen["folders"].append(os.path.relpath(os.fsdecode(args[0])))
    elif event == "open" and isinstance(args[0], (str, bytes)) and isinstance(args[1], str):
        path = os.path.relpath(os.fsdecode(args[0]))
        if set(args[1]) & set("wax+") and not path.startswith(".."):
            seen["written"].append(path)


def watched() -> int:
    """Run the script of `rank OUT.json CARDS SCRIPT [ARGUMENT...]` and write OUT.RANK.json; its exit code."""
    out, cards, script = Path(sys.argv[1]).resolve(), int(sys.argv[2]), sys.argv[3]
    sys.argv = sys.argv[3:]
    sys.path[0] = str(Path(script).resolve().parent)
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    torch.seed()  # where this process was forked, others have its random numbers
    random.seed()
    pretend(cards)
    register_optimizer_step_pre_hook(before_step)
    register_module_forward_pre_hook(entering)
    register_module_forward_hook(leaving, always_call=True)
    register_module_forward_hook(measured)
    loader = torch.utils.data.DataLoader
    loader.__iter__ = passing(loader.__iter__)  # type: ignore[method-assign]
    writing: Any = torch.serialization._open_zipfile_writer_file.__init__

    def zip_file(self: Any, name: Any) -> None:
        seen["written"].append(os.path.relpath(os.fsdecode(name)))
        writing(self, name)

    # torch writes its files in C++, which no audit hook sees.
    torch.serialization._open_zipfile_writer_file.__init__ = zip_file  # type: ignore[method-assign]
    sys.addaudithook(opened)
    code = 0
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except Exception as error:  # the script's own, whatever it is: told, and the rank fails as python would
        sys.excepthook(type(error), error, error.__traceback__)
        seen["error"], code = f"{type(error).__name__}: {error}"[:300], 1
    seen["end"] = weights()
    seen["epochs"] = [trained for trained, _, _ in passes if trained]
    seen["validations"] = [looked for trained, looked, _ in passes if looked and not trained]
    seen["losses"] = [sum(losses) for trained, _, losses in passes if trained]
    for path in (path for path in seen["written"] if path.endswith("metrics.json")):
        seen["logged"] = json.loads(Path(path).read_text())
    seen["group"] = torch.distributed.is_available() and torch.distributed.is_initialized()
    seen["wrapped"] = len(alive(nn.DataParallel, nn.parallel.DistributedDataParallel))
    rank = os.environ.get("HOROVOD_RANK", "0")
    out.with_name(f"{out.stem}.{rank}.json").write_text(json.dumps(seen))
    if horovod_runs() and not code:
        sys.modules["horovod.torch"].shutdown()
    return code
