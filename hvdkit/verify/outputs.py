"""What bit-equal runs print and save: with the same weights, a different number is a fault of the output."""

from __future__ import annotations

from dataclasses import replace

from hvdkit.observe.records import Run
from hvdkit.verify.causes import likely_causes
from hvdkit.verify.detect import Start
from hvdkit.verify.differences import Difference
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.judge import Verification
from hvdkit.verify.scene import Scene
from hvdkit.verify.twins.files import Side
from hvdkit.verify.twins.numbers import Scales
from hvdkit.verify.twins.outputs import output_differences
from hvdkit.verify.twins.own_statistics import differences_apart_from


def with_outputs(scene: Scene, start: Start, settings: Settings, result: Verification) -> Verification:
    """The result for an original of several ranks, whose printed and saved numbers the migrated must have.

    What looks different is compared with a second run of the original, in which clocks jump: a number that
    differs between its own two runs (a time) is compared with none.
    """
    comparison = result.comparison
    if start.tensorflow or not result.holds or not comparison.identical:
        return result
    job, original = _all(comparison.migrated), _all(comparison.original)
    scales = Scales(comparison.migrated.world)
    if not output_differences(job, [original], scales, tensors=False)[0]:
        return result
    title = "original again, with other clocks"
    again = scene.run(title, scene.request.original, start, replace(settings, jumps=1))

    def find(scales: Scales) -> list[Difference]:
        return output_differences(job, [original, _all(again)], scales, tensors=False)[0]

    found, unchecked = differences_apart_from(find, comparison.migrated, scales)
    result = replace(result, unchecked=(*result.unchecked, *unchecked))
    if not found:
        return result
    apart = replace(comparison, differences=tuple(sorted(found, key=lambda one: one.step)), identical=False)
    return replace(result, comparison=apart, causes=likely_causes(apart))


def _all(run: Run) -> Side:
    return Side(run, tuple(run.steps))
