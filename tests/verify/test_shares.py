"""Samples by what they are: on hand-made records, as the hook sees them, in a run whose split is unseeded."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset, SubsetRandomSampler, TensorDataset

from hvdkit.observe.records import LEAVES_OUT, MADE, PASS_ENDED, TO_END, Draw, Event, Pool, Probe, Run, Step
from hvdkit.verify.cause import Cause
from hvdkit.verify.hook.probe import probe
from hvdkit.verify.hook.samples import Bases, rows
from hvdkit.verify.scene import Request
from hvdkit.verify.session import verify
from hvdkit.verify.shares import SPLIT, STREAM, UNLIKE, check_shares

ROOT = Path(__file__).parents[2]
SHARD = Cause("HVD302", "a sampler")
DIFFERENT = "ranks train on different samples"
APART = "no rank trains on samples that another evaluates on"
SAME = "a sample is the same on every rank"


def rank(
    indices: list[int], *parts: set[int], samples: str = "", contents: str = "", probed: str = ""
) -> tuple[Step, ...]:
    """One step of a rank; samples, contents: a letter for each. probed: content of the first sample."""
    drawn = Draw(0, 0, tuple(indices), samples=tuple(samples))
    return (
        Step(
            0,
            1,
            (0.1,),
            (),
            draws=(drawn,) if indices else (),
            loader=0,
            epoch=0,
            contents=(Draw(0, 0, tuple(contents)),) if contents else (),
            pools=tuple(Pool.of(made, "Set of 12", held) for made, held in enumerate(parts)),
            probes=(Probe("Set of 12", 0, probed.strip("?")),) if probed else (),
            events=(Event(MADE, "0 0"),),
        ),
    )


def whole_pass(samples: range | list[int], kind: str = "indices", left: int = 0) -> tuple[Step, ...]:
    """One step of a rank that ends its first pass. left: samples that fill no batch."""
    drawn = Draw(0, 0, tuple(samples))
    events = (Event(PASS_ENDED, "0 0"), *([Event(LEAVES_OUT, f"0 {left}")] if left else []))
    fields = {"draws" if kind == "indices" else "contents": (drawn,)}
    return (Step(0, 1, (0.1,), (), loader=0, epoch=0, events=events, **fields),)


@pytest.mark.parametrize(
    ("ranks", "kind", "left", "holds"),
    [
        ((range(0, 44, 2), range(1, 44, 2)), "indices", 0, True),
        ((range(0, 40, 2), range(1, 40, 2)), "indices", 0, False),
        ((range(0, 40, 2), range(1, 40, 2)), "indices", 2, True),  # drop_last on both
        ((range(0, 44, 4), range(1, 44, 4)), "indices", 2, False),
        ((range(6, 50, 2), range(7, 50, 2)), "indices", 0, True),  # others of the data set, as many
        ((range(0, 44, 2), range(1, 44, 2)), "contents", 0, True),
        ((range(0, 44, 4), range(1, 44, 4)), "contents", 0, False),  # half of each share of a stream
        ((range(100, 144, 4), range(101, 144, 4)), "contents", 0, None),  # augmented
    ],
)
def test_all_samples_are_trained_on(ranks, kind, left, holds):
    original = Run(Path(), {0: whole_pass(range(44), kind)})
    job = Run(Path(), {rank: whole_pass(samples, kind, left) for rank, samples in enumerate(ranks)})
    held = {each.name: each.holds for each in check_shares(original, job, SHARD)}
    assert held.get("together they train on all samples") is holds


@pytest.mark.parametrize(("other", "holds"), [([3, 3, 1, 0], True), ([2, 0, 2, 3], False)])
def test_what_is_drawn_with_replacement_is_no_share(other, holds):
    """A weighted sampler, of which each rank has its own numbers; and of which all have the same."""
    original = Run(Path(), {0: whole_pass([0, 1, 1, 3, 2, 0, 3, 3])})
    job = Run(Path(), {0: whole_pass([2, 0, 2, 3]), 1: whole_pass(other)})
    assert {each.name: each.holds for each in check_shares(original, job, SHARD)} == {DIFFERENT: holds}


@pytest.mark.parametrize(
    ("contents", "probed", "kept"),
    [
        ("abcd", "a", True),
        ("dxyz", "x", True),  # another split, in another order
        ("stuv", "a", True),  # filled up by the batch that they are in
        ("stuv", "s", False),  # another normaliser
        ("stuv", "?", None),  # augmented
    ],
)
def test_samples_are_the_originals(contents, probed, kept):
    ended = Event(PASS_ENDED, "0 0")
    original, job = (
        Run(Path(), {0: tuple(replace(step, events=(*step.events, ended)) for step in steps)})
        for steps in (
            rank([0, 1, 2, 3], {0, 1, 2, 3}, contents="abcd", probed="a"),
            rank([0, 1, 2, 3], {0, 1, 2, 3}, contents=contents, probed=probed),
        )
    )
    held = {each.name: each.holds for each in check_shares(original, job, SHARD)}
    assert held.get("samples are what the original makes of them") is kept


@pytest.mark.launch
@pytest.mark.parametrize("part", ["hvd.rank() :: hvd.size()", ":: hvd.size()"])
def test_a_normaliser_of_a_part_of_the_data(tmp_path, monkeypatch, part):
    """Samples are looked at where a run goes on to its end, too."""
    shutil.copytree(ROOT / "benchmarks" / "mutation" / "pairs" / "onecycle", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    script = Path("right.py")
    text = script.read_text()
    assert "inputs.mean(0)" in text
    script.write_text(text.replace("inputs.mean(0)", f"inputs[{part}].mean(0)"))
    request = Request(Path("original.py"), script, steps=TO_END)
    result = verify(request, lambda line: print(line, file=sys.stderr))
    failed = {held.name for held in result.invariants if not held.holds}
    assert "samples are what the original makes of them" in failed
    assert (SAME in failed) is ("rank" in part)


def found(*ranks: tuple[Step, ...]) -> dict[str, tuple[bool, Cause | None]]:
    run = Run(Path(), dict(enumerate(ranks)))
    return {held.name: (held.holds, held.cause) for held in check_shares(run, run, SHARD)}


TRAIN, VALID = {0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11}
CASES = {
    "the same split": ((rank([0, 2], TRAIN, VALID), rank([1, 3], TRAIN, VALID)), APART, True, SPLIT),
    "a split by each rank's numbers": (
        (rank([0, 2], TRAIN, VALID), rank([1, 3], TRAIN - {0, 1} | {8, 9}, {0, 1, 10, 11})),
        APART,
        False,
        SPLIT,
    ),
    "validation on rank 0 alone": ((rank([0, 2], TRAIN, VALID), rank([1, 3], VALID)), APART, False, SPLIT),
    "also evaluated on what is trained on": (
        (rank([0, 2], TRAIN, {0, 1}), rank([1, 3], TRAIN, {0, 2})),
        APART,
        None,
        None,
    ),
    "shares made before, each split": (
        (
            rank([0, 1], TRAIN, VALID, contents="ab", probed="a"),
            rank([0, 1], TRAIN - {0, 1} | {8, 9}, {0, 1, 10, 11}, contents="cd", probed="c"),
        ),
        APART,
        None,
        None,
    ),
    "places apart, samples not": (
        (rank([0, 2], samples="ab"), rank([1, 3], samples="ba")),
        DIFFERENT,
        False,
        SPLIT,
    ),
    "places alike, samples apart": (
        (rank([0, 2], samples="ab"), rank([0, 2], samples="cd")),
        DIFFERENT,
        True,
        None,
    ),
    "all on each": ((rank([0, 2]), rank([0, 2])), DIFFERENT, False, SHARD),
    "shares made before": (
        (rank([0, 1], TRAIN, contents="ab", probed="a"), rank([0, 1], TRAIN, contents="cd", probed="c")),
        DIFFERENT,
        True,
        SHARD,
    ),
    "no index, shared": ((rank([], contents="abc"), rank([], contents="abd")), DIFFERENT, False, STREAM),
    "no index, apart": ((rank([], contents="abc"), rank([], contents="def")), DIFFERENT, True, STREAM),
    "no index, few contents": ((rank([], contents="aab"), rank([], contents="aab")), DIFFERENT, None, None),
    "fitted on each rank's share": (
        (rank([0, 2], TRAIN, probed="a"), rank([1, 3], TRAIN, probed="b")),
        SAME,
        False,
        UNLIKE,
    ),
    "drawn at random": ((rank([0, 2], TRAIN, probed="a"), rank([1, 3], TRAIN, probed="?")), SAME, True, None),
    "the same data": ((rank([0, 2], TRAIN, probed="a"), rank([1, 3], TRAIN, probed="a")), SAME, True, None),
}


@pytest.mark.parametrize("case", CASES)
def test_records(case):
    ranks, name, holds, cause = CASES[case]
    told = found(*ranks).get(name)
    assert (told and told[0]) is holds
    if told and not holds:
        assert told[1] == cause


def test_a_record_is_read_as_it_was_written():
    [step] = rank([3], TRAIN, {5}, samples="a", contents="b", probed="c")
    assert Step.from_line(step.to_line()) == step
    assert [pool.mask for pool in step.pools] == [0b11111111, 0b100000]


class Wrapped(Dataset):
    """A transform around a part, as scripts write it."""

    def __init__(self, part):
        self.part = part

    def __len__(self):
        return len(self.part)

    def __getitem__(self, index):
        return self.part[index] + torch.rand(1)


def test_identity_through_wrappers():
    bases, one, other = Bases(), TensorDataset(torch.arange(6.0)), TensorDataset(torch.arange(4.0))
    both = ConcatDataset([one, other])
    part = Wrapped(Subset(Subset(both, [9, 7, 5, 0]), [1, 3, 2]))
    one_name, other_name = "TensorDataset of 6", "TensorDataset of 4"
    assert bases.samples(part, (0, 1, 2)) == (f"{other_name}:1", f"{one_name}:0", f"{one_name}:5")
    assert bases.samples(one, (0, 1)) == () == bases.samples(part, ("key",))
    pools = bases.pools(2, DataLoader(part))
    assert {(pool.made, pool.data, pool.mask) for pool in pools} == {(2, one_name, 33), (2, other_name, 2)}
    [half] = bases.pools(3, DataLoader(one, sampler=SubsetRandomSampler([1, 3])))
    assert half.mask == 0b1010
    again = TensorDataset(torch.arange(6.0))
    assert [pool.data for pool in bases.pools(4, DataLoader(again))] == [f"{one_name} #2"]


def test_contents_of_a_batch():
    first = rows({"x": torch.tensor([[1, 2], [3, 4]]), "y": torch.tensor([0, 1])})
    second = rows({"x": torch.tensor([[3, 4], [5, 6]]), "y": torch.tensor([1, 1])})
    assert len(set(first)) == 2 and first[1] == second[0] and first[0] not in second
    assert rows([torch.zeros(2, 2), torch.zeros(3)]) == ()


class Failing(TensorDataset):
    def __getitem__(self, index):
        raise KeyError(index)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_samples_are_drawn_again():
    bases = Bases()
    sets = TensorDataset(torch.arange(6.0)), Wrapped([1.0, 2.0]), Failing(torch.arange(3.0))
    pools = [pool for made, data in enumerate(sets) for pool in bases.pools(made, DataLoader(data))]
    drawn = probe(bases, pools)
    assert [(sample.data, sample.index, bool(sample.digest)) for sample in drawn] == [
        ("TensorDataset of 6", 0, True),
        ("TensorDataset of 6", 5, True),
        ("Wrapped of 2", 0, False),
        ("Wrapped of 2", 1, False),
    ]


@pytest.mark.launch
def test_a_split_that_is_not_seeded(tmp_path, monkeypatch):
    shutil.copytree(ROOT / "benchmarks" / "migrations" / "single", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    seeded = ", generator=torch.Generator().manual_seed(0))"
    for path in map(Path, ("original.py", "right.py")):
        text = path.read_text()
        assert text.count(seeded) == 1
        path.write_text(text.replace(seeded, ")"))
    result = verify(
        Request(Path("original.py"), Path("right.py"), steps=4), lambda line: print(line, file=sys.stderr)
    )
    failed = {held.name: held for held in result.invariants if not held.holds}
    assert set(failed) == {DIFFERENT, APART}
    assert {held.cause for held in failed.values()} == {SPLIT}
