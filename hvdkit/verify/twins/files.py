"""The files of the original's twins and of the job: which there are, when, and what is in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hvdkit.observe.records import RATES, Run, Saved, Tensor
from hvdkit.verify.differences import NO_RANK, Difference, Stage
from hvdkit.verify.hook.texts import TEXTS
from hvdkit.verify.twins.lines import Line, compare_lines
from hvdkit.verify.twins.numbers import Scales, is_wrong

DIGITS = re.compile(r"\d+")
SINGLE = ("bool", "int", "float")


@dataclass(frozen=True)
class Write:
    """A file is written before a step, at a place; saved: what is put into it, where that is known."""

    file: str
    step: int
    place: str
    saved: Saved | None = None


@dataclass(frozen=True)
class Side:
    """Ranks that are one side of a comparison: all of a job, or one twin."""

    run: Run
    ranks: tuple[int, ...]


def file_differences(
    job: Side, originals: Sequence[Side], scales: Scales, tensors: bool = True, alone: Side | None = None
) -> Iterator[Difference]:
    """Files that the original writes and no rank does, and other values in what both write.

    originals: what they have in common is compared. tensors: not only single values are. alone: the original
    as one process.
    """
    before = [_writes(side) for side in originals]
    now = _writes(job)
    yield from _names(now, before)
    yield from _moments(now, before)
    yield from _contents(now, before, scales, tensors)
    yield from _texts(job, originals, now, before, scales, alone)


def _writes(side: Side) -> list[Write]:
    """Those in the folder that the script runs in, rank by rank in the order of time."""
    found = []
    for step in (step for rank in side.ranks for step in side.run.steps[rank]):
        at = dict(zip(step.writes, step.written_at))
        held = {file.file: file for file in step.saved}
        found += [
            Write(name, step.number, held[name].place if name in held else at.get(name, ""), held.get(name))
            for name in dict.fromkeys((*step.writes, *held))
            if not name.startswith("/")
        ]
    return found


def _names(now: list[Write], before: list[list[Write]]) -> Iterator[Difference]:
    names = {write.file for write in now}
    shared = set.intersection(*({write.file for write in writes} for writes in before))
    told: set[str] = set()
    for write in before[0]:
        if write.file in names or write.file not in shared or write.file in told or _is_of_now(write.file):
            continue
        told.add(write.file)
        like = next(
            (one for one in now if _plain(one.file) == _plain(write.file) and one.file not in shared), None
        )
        seen = f"{like.file} in its place" if like else NO_RANK
        places = (write.place, like.place if like else "")
        yield Difference(Stage.FILES, write.step, 0, 0, write.file, "written", seen, places=places)


def _plain(name: str) -> str:
    return DIGITS.sub("#", name)


def _is_of_now(name: str) -> bool:
    """Whether a name has the time of day in it, as far as the last hour goes."""
    digits = "".join(DIGITS.findall(name))
    now = datetime.now()
    return any((now - timedelta(minutes=ago)).strftime("%H%M") in digits for ago in range(60))


def _moments(now: list[Write], before: list[list[Write]]) -> Iterator[Difference]:
    """Files that the original saves before a step at which the job does not save them, and the other way
    round."""
    job, *originals = (
        {(write.file, write.step): write for write in writes if write.saved} for writes in (now, *before)
    )
    names = [{file for file, _ in saved} for saved in (job, *originals)]
    for (file, step), write in originals[0].items():
        if (file, step) not in job and file in names[0] and all((file, step) in one for one in originals):
            yield _moment(write, "saved", "not saved", (write.place, _first(job, file).place))
    for (file, step), write in job.items():
        if all(file in one for one in names) and not any((file, step) in one for one in originals):
            yield _moment(write, "not saved", "saved", (_first(originals[0], file).place, write.place))


def _first(saved: dict[tuple[str, int], Write], file: str) -> Write:
    return next(write for write in saved.values() if write.file == file)


def _moment(write: Write, original: str, migrated: str, places: tuple[str, str]) -> Difference:
    return Difference(Stage.FILES, write.step, 0, 0, write.file, original, migrated, places=places)


def _contents(
    now: list[Write], before: list[list[Write]], scales: Scales, tensors: bool
) -> Iterator[Difference]:
    theirs = {(write.file, write.step): write for write in reversed(now) if write.saved}
    tables = [{(write.file, write.step): write for write in writes if write.saved} for writes in before]
    for key, write in tables[0].items():
        other = theirs.get(key)
        alike = [table[key].saved for table in tables if key in table]
        if other is None or len(alike) < len(tables):
            continue
        found = _first_apart(other.saved, alike, scales, tensors)
        if found:
            name, left, right = found
            places = write.place, other.place
            yield Difference(
                Stage.CONTENTS, write.step, 0, 0, f"{write.file}: {name}", left, right, places=places
            )


def _first_apart(
    job: Saved | None, twins: list[Saved | None], scales: Scales, tensors: bool
) -> tuple[str, str, str] | None:
    """The first value that the job lacks or has otherwise: its name, and both."""
    now = _values(job)
    digests = {value.digest for value in now.values()}
    before = [_values(twin) for twin in twins]
    for name, value in before[0].items():
        all_twins = [values[name] for values in before if name in values]
        if len(all_twins) < len(before) or not (tensors or value.dtype in SINGLE):
            continue
        other = now.get(name)
        if other is None:
            if value.digest not in digests or value.dtype in SINGLE:
                return name or "the tensor", _shown(value), "not in it"
        elif _apart(name, other, all_twins, scales):
            return name or "the tensor", _shown(value), _shown(other)
    return None


def _values(saved: Saved | None) -> dict[str, Tensor]:
    return {tensor.name: tensor for tensor in saved.tensors} if saved else {}


def _apart(name: str, job: Tensor, twins: list[Tensor], scales: Scales) -> bool:
    if job.digest == twins[0].digest:
        return False
    if job.dtype in SINGLE and twins[0].dtype in SINGLE:
        if "bool" in (job.dtype, twins[0].dtype):
            return len({twin.digest for twin in twins}) == 1
        if any(part in RATES for part in name.split("/")) and _is_scaled(job, twins[0], scales):
            return False
        return is_wrong(job.digest, [twin.digest for twin in twins], scales)
    # What twins hold differently (statistics, states of generators) is each rank's own.
    return len({twin.digest for twin in twins}) == 1


def _is_scaled(job: Tensor, twin: Tensor, scales: Scales) -> bool:
    now, before = float(job.digest), float(twin.digest)
    factors = {b / a for a, b in scales.rates if a}
    return any(abs(now - before * factor) <= 1e-9 * abs(now) for factor in factors)


def _shown(value: Tensor) -> str:
    return (
        value.digest
        if value.dtype in SINGLE
        else f"{value.dtype} of shape {tuple(value.shape)}, SHA-256 {value.digest[:12]}"
    )


def _texts(
    job: Side,
    originals: Sequence[Side],
    now: list[Write],
    before: list[list[Write]],
    scales: Scales,
    alone: Side | None,
) -> Iterator[Difference]:
    """Text files that are there at the end, by their lines."""
    saved = {write.file for write in (*now, *before[0]) if write.saved}
    places = {write.file: write.place for write in reversed(now)}
    for name, place in {write.file: write.place for write in reversed(before[0])}.items():
        if name in saved or name not in places:
            continue
        written = _lines(job, name)
        theirs = [_lines(side, name) for side in originals]
        if not written or not all(theirs):
            continue
        wrong, _ = compare_lines(written, theirs, scales, _lines(alone, name) if alone else ())
        for one in wrong[:1]:
            step = max(s.number for s in job.run.steps[job.ranks[0]])
            sides = one.before.text.strip(), one.now.text.strip()
            yield Difference(Stage.CONTENTS, step, 0, 0, name, *sides, places=(place, places[name]))


def _lines(side: Side, name: str) -> list[Line]:
    """Those of a text file as a rank left it."""
    return next((lines for rank in side.ranks if (lines := _text(side.run, rank, name))), [])


def _text(run: Run, rank: int, name: str) -> list[Line]:
    """The lines of a file as a rank left it; none of a binary one."""
    path = run.folder / TEXTS / str(rank) / name
    return [Line(text) for text in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []
