"""The hook inside one process: imports, seeds, another sitecustomize, CUDA on the CPU."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections import OrderedDict
from importlib import import_module
from pathlib import Path

import pytest
import torch

from hvdkit.observe.imports import AfterImport
from hvdkit.verify.hook.settings import VARIABLE, Settings, from_environment, launcher_rank
from hvdkit.verify.runner import SITE


def test_settings_travel_through_the_environment():
    settings = Settings("/somewhere", 2, 5, local_rank_flag="--local_rank", cpu=True)
    assert from_environment(settings.to_environment()) == settings
    assert from_environment({}) is None


def test_rank_of_the_launcher():
    assert launcher_rank({"HOROVOD_RANK": "1", "RANK": "0"}) == 1
    assert launcher_rank({"RANK": "3"}) == 3
    assert launcher_rank({"RANK": ""}) is None


def test_called_once_after_the_body(tmp_path, monkeypatch):
    (tmp_path / "just_a_module.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen = []
    finder = AfterImport({"just_a_module": lambda: seen.append(sys.modules["just_a_module"].value)})
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    import_module("just_a_module")
    import_module("just_a_module")
    assert seen == [1]


def test_nothing_is_collected_during_the_import(tmp_path, monkeypatch):
    (tmp_path / "another_module.py").write_text("import gc\nenabled = gc.isenabled()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen = []
    finder = AfterImport({"another_module": lambda: seen.append(gc.isenabled())})
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    assert not import_module("another_module").enabled
    assert seen == [True]


def inside(folder: Path, script: str, **settings: object) -> str:
    """Run a script as a process of a verified run; gives what it printed."""
    (folder / "script.py").write_text(script)
    environment = {
        **os.environ,
        **Settings(str(folder / "record"), 2, 5, **settings).to_environment(),
        "PYTHONPATH": os.pathsep.join([str(SITE), str(folder), os.environ.get("PYTHONPATH", "")]).rstrip(":"),
        "RANK": "1",
    }
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_another_sitecustomize_still_runs(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.from_other = 'yes'\n")
    assert inside(tmp_path, "import sys; print(sys.from_other)") == "yes\n"


def test_seeds_differ_by_rank_and_repeat(tmp_path, monkeypatch):
    script = "import random, torch, numpy; print(random.random(), torch.rand(1).item(), numpy.random.rand())"
    first, second = inside(tmp_path, script), inside(tmp_path, script)
    assert first == second and len(set(first.split())) == 3
    assert inside(tmp_path, script, seed=Settings("", 2, 5).seed + 1) != first


CUDA = """
import torch
from torch import nn
assert torch.cuda.is_available() and torch.cuda.device_count() == 2
torch.cuda.set_device("cuda:1")
assert torch.cuda.current_device() == 1
for tensor in (
    torch.zeros(2, device="cuda"), torch.ones(2).cuda(), torch.ones(2).to("cuda:0"), torch.ones(2).to(1),
    torch.arange(3, device=torch.device("cuda", 0)), torch.ones(2).to(device="cuda", dtype=torch.float64),
    torch.tensor([1.0], device=0), torch.ones(2).pin_memory(), nn.Linear(2, 2, device="cuda").weight,
    nn.Linear(2, 2).cuda(1).weight, nn.Linear(2, 2).to("cuda").weight, nn.Linear(2, 2).to(0).weight,
    torch.cuda.FloatTensor([1.0]), torch.empty_like(torch.ones(2), device="cuda"),
):
    assert tensor.device.type == "cpu", tensor
assert torch.ones(2).to(torch.float64).dtype is torch.float64
assert torch.ones(2).to("meta").device.type == "meta"
torch.save({"w": torch.ones(2)}, "w.pt")
assert torch.load("w.pt", map_location=torch.device("cuda:0"))["w"].device.type == "cpu"
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record(); end.record(); torch.cuda.synchronize()
assert start.elapsed_time(end) == 0.0
with torch.cuda.stream(torch.cuda.Stream()), torch.cuda.device(1):
    torch.cuda.current_stream(device=0).wait_stream(torch.cuda.default_stream())
assert not torch.cuda.memory_stats()["allocated_bytes.all.current"] and torch.cuda.memory_summary() == ""
assert torch.cuda.max_memory_allocated() == 0 and torch.cuda.get_device_properties(0).total_memory
if hasattr(torch, "accelerator"):
    assert torch.accelerator.is_available() and torch.accelerator.device_count() == 2
    torch.accelerator.set_device_index(0)
    assert torch.cuda.current_device() == 0
    assert torch.ones(2).to(torch.accelerator.current_accelerator()).device.type == "cpu"
data = torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2, pin_memory=True, num_workers=1)
assert len(list(data)) == 2
model = nn.DataParallel(nn.Linear(2, 2).cuda())
assert model(torch.ones(1, 2).cuda()).shape == (1, 2)
scaler = torch.amp.GradScaler()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.autocast("cuda"):
    loss = model(torch.ones(1, 2)).sum()
scaler.scale(loss).backward()
assert scaler.is_enabled() and scaler.get_scale() == 65536.0
scaler.step(optimizer); scaler.update()
print("ran")
"""


def test_cuda_calls_on_the_cpu(tmp_path):
    assert inside(tmp_path, CUDA, cpu=True).endswith("ran\n")


MOVED = """
import torch
from hvdkit.verify.hook.order import note_lost_hooks
from hvdkit.verify.hook.recorder import Recorder

recorder = Recorder.of_process()

def wrapped(model):
    "With hooks, as Horovod's optimizer registers them."
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer._requires_update = set(model.parameters())
    optimizer._grad_accs = [p.expand_as(p).grad_fn.next_functions[0][0] for p in model.parameters()]
    return optimizer

def lost(optimizer):
    recorder.events.clear()
    note_lost_hooks(recorder, optimizer)
    return [event.detail for event in recorder.events if event.what == "moved after wrapping"]

there = [torch.nn.Linear(2, 2).cuda(), torch.nn.Linear(2, 2, device="cuda")]
for model in there:
    optimizer = wrapped(model)
    model.cuda().to("cuda:0").to(torch.device("cuda")).float()
    assert not lost(optimizer)
for move in (lambda m: m.cuda(), lambda m: m.to("cuda"), lambda m: m.to(device=0), lambda m: m.double()):
    late = torch.nn.Linear(2, 2)
    weights = late.weight.tolist()
    optimizer = wrapped(late)
    assert not lost(optimizer)
    move(late)
    assert lost(optimizer) == ["parameters without a hook: 2"] and late.weight.tolist() == weights
print("ran")
"""


def test_a_model_that_is_moved_late_loses_its_hooks_on_the_cpu_too(tmp_path):
    assert inside(tmp_path, MOVED, cpu=True).endswith("ran\n")


def test_outside_a_run_nothing_is_touched(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import torch; print(torch.optim.Optimizer.__init__.__module__, torch.save.__module__)")
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
    environment["PYTHONPATH"] = str(SITE)
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    assert done.stdout == "torch.optim.optimizer torch.serialization\n", done.stderr


COLLECTIVES = """
import torch
import torch.distributed as dist
store = dist.FileStore("store", 1)
dist.init_process_group("gloo", store=store, rank=0, world_size=1)
ones = torch.ones(4)
dist.all_reduce(ones)
dist.all_gather([torch.empty(4)], ones)
dist.broadcast(2 * ones, 0)
dist.all_reduce(ones, async_op=True).wait()
dist.all_gather_object([None], {"count": 1})
layer = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
layer(torch.ones(1, 3)).sum().backward()
for parameter in layer.parameters():
    dist.all_reduce(parameter.grad)
dist.all_reduce(torch.cat([parameter.grad.flatten() for parameter in layer.parameters()]))
from hvdkit.verify.hook.recorder import Recorder
for call in Recorder.of_process().collectives:
    print(call.kind, round(call.norm, 3), call.place, call.held)
dist.destroy_process_group()
"""


def test_collectives_of_the_script(tmp_path):
    said = inside(tmp_path, COLLECTIVES)
    assert said.splitlines() == [
        "allreduce 2.0 script.py:7 False",
        "allgather 2.0 script.py:8 False",
        "broadcast 4.0 script.py:9 False",
        "allreduce nan script.py:10 False",
        "allgather nan script.py:11 False",
        "allreduce 2.449 script.py:16 True",
        "allreduce 1.414 script.py:16 True",
        "allreduce 2.828 script.py:17 True",
    ]


STREAM = """
from torch.utils.data import DataLoader, IterableDataset

class Stream(IterableDataset):
    def __iter__(self):
        yield from range(4)

for batch in DataLoader(Stream(), batch_size=2):
    print(batch.tolist())
"""


def test_a_stream_has_no_length(tmp_path):
    assert inside(tmp_path, STREAM) == "[0, 1]\n[2, 3]\n"


CAPITALS = """
import os
import torch.distributed as dist
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="0", RANK="0", WORLD_SIZE="1")
dist.init_process_group("NCCL")
print(dist.get_backend())
"""


def test_nccl_in_capitals_on_the_cpu(tmp_path):
    assert inside(tmp_path, CAPITALS, cpu=True) == "gloo\n"


LEFT_OPEN = """
import atexit
import sys
from collections import OrderedDict
atexit.register(lambda: print(sys.modules["torch.distributed"].is_initialized()))  # runs last
import torch.distributed as dist
dist.init_process_group("gloo", store=dist.FileStore("store", 1), rank=0, world_size=1)
print(dist.is_initialized())
"""


def test_a_process_group_left_open_is_left_before_the_end(tmp_path):
    assert inside(tmp_path, LEFT_OPEN) == "True\nFalse\n"


DESTROYED = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

def train(run):
    dist.init_process_group("gloo", store=dist.FileStore(f"store{run}", 1), rank=0, world_size=1)
    model = DistributedDataParallel(torch.nn.Linear(4, 1))
    model(torch.randn(8, 4)).sum().backward()
    dist.destroy_process_group()  # the model lives on: its group is freed where this function returns

for run in range(40):
    train(run)
print(run)
"""


@pytest.mark.launch
def test_a_process_group_is_destroyed_after_its_threads_have_finished(tmp_path):
    """Without the wait, torch 2.13 hung for good after 5 to 70 such runs."""
    assert inside(tmp_path, DESTROYED) == "39\n"


SPAWNED = """
import os
import random
import numpy as np
import torch
import torch.multiprocessing as mp
{seeds}

def numbers(rank):
    line = f"{{random.random()}} {{np.random.rand()}} {{torch.rand(1).item()}}\\n"
    os.write(1, line.encode())  # whole, however many children write

if __name__ == "__main__":
    del os.environ["RANK"]
    for rank in range(2):
        mp.start_processes(numbers, nprocs=rank + 1, start_method="{method}")
"""


def test_seeds_of_the_module_hold_in_spawned_children(tmp_path):
    seeds = "random.seed(3); np.random.seed(4); torch.manual_seed(5)"
    seeded = inside(tmp_path, SPAWNED.format(seeds=seeds, method="spawn")).splitlines()
    own = (
        "import random, torch\nimport numpy as np\n{}\n"
        "print(random.random(), np.random.rand(), torch.rand(1).item())\n"
    )
    assert set(seeded) == {inside(tmp_path, own.format(seeds)).strip()}
    plain = inside(tmp_path, SPAWNED.format(seeds="", method="spawn")).splitlines()
    assert len(plain) == 3 and len(set(plain)) > 1


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_seeds_of_the_parent_hold_in_its_children(tmp_path, method):
    """A rank of the migrated runs what the parent ran, and then what the child ran."""
    main = 'if __name__ == "__main__":\n    '
    seeds = "random.seed(3); np.random.seed(4); torch.manual_seed(5); torch.rand(2)"
    seeded = inside(tmp_path, SPAWNED.format(seeds=main + seeds, method=method)).splitlines()
    alone = (
        f"import random, torch\nimport numpy as np\n{seeds}\n"
        "print(random.random(), np.random.rand(), torch.rand(1).item())\n"
    )
    assert set(seeded) == {inside(tmp_path, alone).strip()}
    drawn = inside(tmp_path, SPAWNED.format(seeds=main + "random.random()", method=method)).splitlines()
    assert len(drawn) == 3 and len(set(drawn)) > 1


def test_several_watch_the_same_steps(monkeypatch):
    """verify and the watch of `hvdkit run` in one process: each is called around every step of the script."""
    from torch.optim import optimizer as hooks

    from hvdkit.observe.steps import around_steps, inside_a_step, part_of_a_step

    monkeypatch.setattr(hooks, "_global_optimizer_pre_hooks", OrderedDict())
    monkeypatch.setattr(hooks, "_global_optimizer_post_hooks", OrderedDict())
    seen: list[str] = []
    for who in "ab":
        around_steps(
            lambda _, who=who: seen.append(f"{who} before"),
            lambda _, who=who: seen.append(f"{who} update"),
            lambda _, who=who: seen.append(f"{who} after"),
        )
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1)
    optimizer.step()
    assert seen == ["a before", "b before", "a update", "b update", "a after", "b after"]
    seen.clear()
    with part_of_a_step():
        assert inside_a_step()
        optimizer.step()
    assert seen == ["a update", "b update"] and not inside_a_step()


def test_the_attributes_of_what_a_copy_links_are_not_changed(tmp_path):
    (tmp_path / "far.bin").write_bytes(b"data")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "data.bin").symlink_to(tmp_path / "far.bin")
    (folder / "own.bin").touch()
    before = (tmp_path / "far.bin").stat()
    script = (
        "import os, shutil, torch\n"
        "for change in (lambda: os.chmod('data.bin', 0), lambda: os.utime('data.bin', (1, 1)),\n"
        "               lambda: shutil.copymode('own.bin', 'data.bin')):\n"
        "    try:\n        change()\n    except PermissionError as error:\n        print(error.strerror)\n"
        "os.chmod('own.bin', 0o600)\n"
    )
    assert inside(folder, script) == "too large to be copied for this run\n" * 3
    assert (tmp_path / "far.bin").stat() == before
