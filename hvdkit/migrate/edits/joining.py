"""Blocks that several rules put around statements that follow one another become one.

A print below a torch.save, each with its own `if hvd.rank() == 0:`, are written under a single one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hvdkit.source.edits import OWN_LINES, Edit, Slot
from hvdkit.source.read.source import Source


def joined(source: Source, changes: Sequence[Edit]) -> list[Edit]:
    """The changes without the headers of blocks that go on right above, under the same header."""
    headers = sorted(edit for edit in dict.fromkeys(changes) if edit.slot is Slot.GUARD)
    if len(headers) < 2:
        return list(changes)
    indented = {source.line_at(edit.start) for edit in changes if edit.slot is Slot.INDENT}
    gone: set[Edit] = set()
    for place, header in enumerate(headers):
        above = next((h for h in reversed(headers[:place]) if _indent(h) == _indent(header)), None)
        if above is None or above.text != header.text or above.start == header.start:
            continue
        first, last = source.line_at(above.start), source.line_at(header.start) - 1
        goes_on = all(_is_inside(source, line, _indent(header), indented) for line in range(first, last + 1))
        one_cell = source.cell_line(first)[0] == source.cell_line(last + 1)[0]
        if goes_on and one_cell and not _put_between(source, above, header, changes):
            gone.add(header)
    return [edit for edit in changes if edit not in gone]


def _indent(header: Edit) -> str:
    return header.text[: len(header.text) - len(header.text.lstrip())]


def _is_inside(source: Source, line: int, indent: str, indented: set[int]) -> bool:
    """Whether a line belongs to a block that a rule has put around lines as deep as these."""
    return line in indented and source.indent(line).startswith(indent)


def _put_between(source: Source, above: Edit, header: Edit, changes: Iterable[Edit]) -> bool:
    """Whether lines come between a header and the statement above it; the header of that is none of them."""
    start = source.starts[source.line_at(header.start) - 2]
    return any(
        start <= edit.start <= header.start
        and (edit.slot in OWN_LINES if edit.inserts else "\n" in edit.text)
        and edit not in (above, header)
        for edit in changes
    )
