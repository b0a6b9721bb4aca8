"""Whether all ranks have the same samples in the same order before these are divided."""

from __future__ import annotations

from hvdkit.migrate.conditions.answers import Answer, Code, open_at
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.data.folder_orders import folder_orders
from hvdkit.migrate.facts.data.made_from import Samples
from hvdkit.migrate.facts.data.picks import picks_behind
from hvdkit.migrate.facts.data.random_splits import unseeded_picks, unseeded_shuffles, unseeded_splits
from hvdkit.migrate.facts.programs.programs import ProgramFacts

DIVIDED = "each rank splits the data differently, and trains on samples that another validates on: {}"
DRAWN = "each rank draws this separately, and what is split or computed with it differs: {}"
LISTED = "hosts list the files of a folder in different orders, and samples are divided by their numbers: {}"


def differing_samples(facts: Facts, program: ProgramFacts, samples: Samples) -> Answer | None:
    """What each rank splits, draws or lists for itself on the way to its samples; None where it does not."""
    apart: list[Code] = [site for site, _ in unseeded_splits(facts, program)]
    apart += unseeded_shuffles(facts, program)
    if apart:
        return open_at(DIVIDED, apart)
    drawn = [*unseeded_picks(facts, program), *picks_behind(facts, program, samples)[0]]
    if drawn:
        return open_at(DRAWN, drawn)
    listed = folder_orders(facts, program, samples)
    return open_at(LISTED, listed) if listed else None
