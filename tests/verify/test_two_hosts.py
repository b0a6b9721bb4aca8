"""Where ranks are placed, and mistakes that show on two hosts only, or on one host only."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import pytest

from hvdkit.hosts.lists import Host, HostList
from hvdkit.verify import shapes
from hvdkit.verify.detect import reads_place
from hvdkit.verify.judge import Verification
from hvdkit.verify.options import add_run_options, request_fields
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify
from hvdkit.verify.torchrun_rank import as_torchrun_sets

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize(
    ("world", "argument", "words"),
    [
        (1, "localhost:1", "1 host of 1 rank"),
        (2, "localhost:1,127.0.0.1:1", "2 hosts of 1 rank"),
        (3, "localhost:2,127.0.0.1:1", "2 hosts of 2 and 1 ranks"),
        (4, "localhost:2,127.0.0.1:2", "2 hosts of 2 ranks"),
    ],
)
def test_two_hosts(world, argument, words):
    hosts = shapes.apart(world)
    assert hosts.argument == argument and hosts.slots == world
    assert shapes.described(hosts) == words
    assert shapes.is_here(hosts) and not shapes.is_here(HostList((Host("a", 1), Host("b", 1))))


def test_torchruns_variables():
    given = {"PATH": "/bin", "HOROVOD_RANK": "3", "HOROVOD_SIZE": "4", "HOROVOD_HOSTNAME": "b"}
    given |= {"HOROVOD_LOCAL_RANK": "1", "HOROVOD_LOCAL_SIZE": "2"}
    given |= {"HOROVOD_CROSS_RANK": "1", "HOROVOD_CROSS_SIZE": "2"}
    made = as_torchrun_sets(given, "a", "29500")
    assert not [name for name in made if name.startswith("HOROVOD_")]
    wanted = {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2", "GROUP_RANK": "1"}
    assert {**made, **wanted, "MASTER_ADDR": "a", "MASTER_PORT": "29500", "PATH": "/bin"} == made


@pytest.mark.parametrize(
    ("options", "world", "hosts"),
    [
        ([], 2, None),
        (["--np", "4"], 4, None),
        (["--hosts", "a:2,b:1"], 3, "a:2,b:1"),
        (["-H", "a:2,b:2", "-np", "3"], 3, "a:2,b:1"),
        (["--hosts", "a:2,b:2", "--np", "3"], 3, "a:2,b:1"),
        (["--hosts", "localhost:2"], 2, "localhost:2"),
    ],
)
def test_hosts_of_the_command_line(options, world, hosts):
    parser = argparse.ArgumentParser()
    add_run_options(parser)
    fields = request_fields(parser.parse_args(options))
    assert fields["world"] == world
    assert (fields["hosts"] and fields["hosts"].argument) == hosts


def test_what_may_depend_on_the_host(tmp_path):
    script = tmp_path / "train.py"
    for text, reads in [
        ("rank = hvd.local_rank()", True),
        ("x = x.to(args.device)", True),
        ("name = socket.gethostname()", True),
        ("import tools", False),
        ("rank = hvd.rank()  # not the local_rank", False),
        ("'Training on one device.'", False),
        ("model.to(f'cuda:{number}')", True),
    ]:
        script.write_text(text)
        assert reads_place(script) is reads
    script.write_text("import tools")
    (tmp_path / "tools.py").write_text("import os\nnumber = os.environ['LOCAL_RANK']")
    assert reads_place(script)


def verified(folder: Path, monkeypatch: pytest.MonkeyPatch, *edits: tuple[str, str, str]) -> Verification:
    """The fixture with texts replaced: (script, old, new)."""
    shutil.copytree(FIXTURES / "hosts", folder / "project")
    monkeypatch.chdir(folder / "project")
    for name, old, new in edits:
        text = Path(name).read_text()
        assert old in text
        Path(name).write_text(text.replace(old, new))
    request = Request(Path("original.py"), Path("migrated.py"), steps=2)
    return verify(request, lambda line: print(line, file=sys.stderr))


@pytest.mark.launch
def test_a_local_rank_for_the_rank(tmp_path, monkeypatch):
    """Right on one host, and in the original's own code too: only two hosts show it."""
    result = verified(
        tmp_path,
        monkeypatch,
        ("migrated.py", "rank=hvd.rank()", "rank=hvd.local_rank()"),
        ("original.py", "rank=dist.get_rank()", 'rank=int(os.environ["LOCAL_RANK"])'),
    )
    assert not result.holds
    assert result.causes[0].rule == "HVD307" and "local rank" in result.causes[0].text
    assert result.comparison.differences[0].rank == 1


@pytest.mark.launch
def test_a_host_number_for_the_rank(tmp_path, monkeypatch):
    """Right on two hosts of one rank: only two ranks on one host show it."""
    result = verified(tmp_path, monkeypatch, ("migrated.py", "rank=hvd.rank()", "rank=hvd.cross_rank()"))
    first = result.comparison.differences[0]
    assert (first.stage.value, first.rank, first.step) == ("sample order", 1, 1)
    assert any("this is 1 host of 2 ranks" in note for note in result.notes)


@pytest.mark.launch
def test_a_batch_that_the_ranks_of_a_host_divide(tmp_path, monkeypatch):
    """Both scripts compute something else on two hosts, and the same as each other."""
    divided = ("batch_size=BATCH", "batch_size=BATCH // local_size")
    result = verified(tmp_path, monkeypatch, ("original.py", *divided), ("migrated.py", *divided))
    assert result.holds and result.comparison.identical
    assert any("depends on the hosts in both scripts" in note for note in result.notes)
