"""Hold `hvdkit verify` to right and wrong migrations of TensorFlow programs, drawn by a seed.

    python benchmarks/twins_tf.py [--seed N] [--wrong N] [--kind KIND] [--only TEXT] [--results FILE]

`twins_tf/originals` are programs of one process. Right migrations are what `hvdkit migrate` makes of them,
also written otherwise (`RIGHT`). Each operator of `WRONG` is applied to every one in which its text is found;
of the pairs so many are drawn. A trial runs the job and the twins of the original, and checks what must hold
beside them, as verify does. Exit code 1 where a wrong one was accepted or a right one refused. Needs a Python
with TensorFlow and Horovod.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from hvdkit.observe.records import TO_END, Run
from hvdkit.verify import tensorflow
from hvdkit.verify.detect import Launcher, Start
from hvdkit.verify.failures import failed
from hvdkit.verify.hook.settings import Settings
from hvdkit.verify.invariants import beside_twins, check_invariants
from hvdkit.verify.placement import HOROVOD
from hvdkit.verify.runner import HangError, RunError
from hvdkit.verify.scene import Request, Scene
from hvdkit.verify.tolerance import tolerance_for
from hvdkit.verify.twins.run import Twinned, run_twins

ORIGINALS = Path(__file__).parent / "twins_tf" / "originals"
SINGLE = Start(Launcher.SINGLE, tensorflow=True)
Edit = tuple[str, str]  # a pattern, and what takes its place

SHARD = r"\.apply\(lambda data: .*?hvd\.rank\(\)\)\)"
SEND = r"( +)hvd\.broadcast_variables\((\w+)\.variables, root_rank=0\)\n"
RIGHT: dict[str, Edit] = {
    "as migrated": ("$^", ""),
    "rate scaled": (r"(SGD|Adam|AdamW|RMSprop)\((learning_rate=)?(0\.\d+)", r"\1(\2\3 * hvd.size()"),
    "op named": (r"(DistributedOptimizer\(.*?\))(, loss)|(Tape\(\w+)\)", r"\1\2\3, op=hvd.Average)"),
    "sent before": (r"(model\.fit\()", r"hvd.broadcast_variables(model.variables, root_rank=0)\n\1"),
    "reduced by hand": (
        r" +(\w+) = hvd\.DistributedGradientTape\(\1\)\n((?: +\w+ = hvd.*\n)?)"
        r"( +)(\w+) = \1\.gradient\((.*)\)\n",
        r"\2\3\4 = [hvd.allreduce(each, op=hvd.Average) for each in \1.gradient(\5)]\n",
    ),
}
# "loss divided" is no fault where the gradient is always clipped: what is clipped has the same direction.
WRONG: dict[str, Edit] = {
    "no shard": (SHARD, ""),
    "array not divided": (r"fit\(x\[.*?\], y\[.*?\], ", "fit(x, y, "),
    "half of the shard": (r"(\.shard\(hvd\.size\()(\))", r"\1\2 * 2"),
    "optimizer not wrapped": (r"hvd\.DistributedOptimizer\((.*?\))\)(, loss)", r"\1\2"),
    "tape not wrapped": (r" +(\w+) = hvd\.DistributedGradientTape\(\1\)\n", ""),
    "summed": (r"(hvd\.DistributedGradientTape\(\w+)\)", r"\1, op=hvd.Sum)"),
    "optimizer sums": (r"(hvd\.DistributedOptimizer\(.*?\))\)(, loss)", r"\1, op=hvd.Sum)\2"),
    "rate by size squared": (
        r"(SGD|Adam|AdamW|RMSprop)\((learning_rate=)?(0\.\d+)",
        r"\1(\2\3 * hvd.size() ** 2",
    ),
    "rate divided": (r"(SGD|Adam|AdamW|RMSprop)\((learning_rate=)?(0\.\d+)", r"\1(\2\3 / hvd.size()"),
    "momentum by size": (r"momentum=0\.9", "momentum=0.9 / hvd.size()"),
    "decay by size": (r"weight_decay=(0\.\d+)", r"weight_decay=\1 * hvd.size()"),
    "loss divided": (r"(labels, model\(inputs, training=True\)\))", r"\1 / hvd.size()"),
    "clipped before averaging": (
        r" +tape = hvd\.DistributedGradientTape\(tape\)\n( +)(gradients = .*\n)( +gradients, norm = .*\n)",
        r"\1\2\3\1gradients = [hvd.allreduce(gradient) for gradient in gradients]\n",
    ),
    "every rank writes": (
        r"if hvd\.rank\(\) == 0:\n( +(?:model|generator|average|checkpoint)\.save)",
        r"if True:\n\1",
    ),
    "nobody writes": (
        r"if hvd\.rank\(\) == 0:\n( +(?:model|generator|average|checkpoint)\.save)",
        r"if False:\n\1",
    ),
    "another file": (r"(save(?:_weights)?\(\")(\w+)", r"\1rank-\2"),
    "epochs divided": (r"epochs=(\d)|(for epoch in range\()(\d)", r"\2epochs=\1\3 // hvd.size()"),
    "steps not divided": (r"steps_per_epoch=8 // hvd\.size\(\)", "steps_per_epoch=8"),
    "schedule not divided": (r"4 // hvd\.size\(\)", "4 * hvd.size()"),
    "batch of one": (r"\.batch\(8\)", ".batch(1)"),
    "own validation": (
        r"(\nval = tf\.data\.Dataset\.from_tensor_slices\(\(x_val, y_val\)\))",
        r"\1.shard(hvd.size(), hvd.rank())",
    ),
    "own arrays of validation": (
        r"validation_data=\(x_val, y_val\)",
        "validation_data=(x_val[hvd.rank() :: hvd.size()], y_val[hvd.rank() :: hvd.size()])",
    ),
    "a number halved": (r"\{total / count:", "{total / count / hvd.size():"),
    "another seed": (r"set_random_seed\(3\)", "set_random_seed(4)"),
    "weights of its own": (
        r"(\nmodel\.compile\()",
        r"\nmodel.set_weights([array + hvd.rank() for array in model.get_weights()])\1",
    ),
    "copy of its own": (r"(average\.set_weights\()(.*)\)\n", r"\1[array + hvd.rank() for array in \2])\n"),
    "average by size": (r"0\.9 \* kept \+ 0\.1", "0.9 ** hvd.size() * kept + (1 - 0.9 ** hvd.size())"),
    "stops by its own loss": (r"if total / count < best", "if total / count * (1 - 2 * hvd.rank()) < best"),
    "stops later": (r"patience=1\)", "patience=1 * hvd.size() * 2)"),
    "plateau later": (r"patience=0", "patience=hvd.size()"),
    "class weights by size": (r"1: 2\.0", "1: 2.0 * hvd.size()"),
    "accumulates longer": (r"\(step \+ 1\) % 2", "(step + 1) % (2 * hvd.size())"),
    "one tape wrapped": (r" +critic_tape = hvd\.DistributedGradientTape\(critic_tape\)\n", ""),
    "a dropout changed": (r"Dropout\(0\.2\)", "Dropout(0.2 / hvd.size())"),
    "state not sent": (SEND, r"\1pass\n"),
}
# Ranks that begin apart, in the original as in its migration: without its seed.
UNSEEDED = ("state not sent",)


@dataclass(frozen=True)
class Trial:
    """A migration of a program, by the operator that was applied."""

    program: str
    operator: str
    right: bool


@dataclass(frozen=True)
class Result:
    """answer: yes, no or unknown. told: why."""

    trial: Trial
    answer: str
    told: str
    seconds: float

    @property
    def fault(self) -> bool:
        """A wrong one accepted, or a right one refused."""
        return self.answer == ("no" if self.trial.right else "yes")


@functools.cache
def migrated(program: str) -> str:
    """What `hvdkit migrate` makes of a program."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(ORIGINALS / f"{program}.py", folder)
        command = [sys.executable, "-m", "hvdkit", "migrate", "--write", "--allow-no-vcs", f"{program}.py"]
        subprocess.run(command, cwd=folder, capture_output=True, check=False)  # 1: something is left to do
        return Path(folder, f"{program}.py").read_text(encoding="utf-8")


def edited_of(program: str, edit: Edit) -> str | None:
    """A migration, edited; None where the edit changes nothing."""
    text = migrated(program)
    edited = re.sub(edit[0], edit[1], text)
    return edited if edited != text or edit == RIGHT["as migrated"] else None


class Bench:
    """Runs trials in one folder. The record of each original is made once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.originals: dict[tuple[str, bool], Run] = {}

    def run(self, trial: Trial, text: str) -> Result:
        """One trial."""
        begun = time.monotonic()
        original = (ORIGINALS / f"{trial.program}.py").read_text(encoding="utf-8")
        if trial.operator in UNSEEDED:
            seed = "tf.keras.utils.set_random_seed(3)\n"
            original, text = original.replace(seed, ""), text.replace(seed, "")
        (self.folder / "original.py").write_text(original, encoding="utf-8")
        (self.folder / "migrated.py").write_text(text, encoding="utf-8")
        answer, told = self._judged(trial)
        return Result(trial, answer, told, round(time.monotonic() - begun, 1))

    def _judged(self, trial: Trial) -> tuple[str, str]:
        request = Request(Path("original.py"), Path("migrated.py"), steps=TO_END, timeout=60)
        scratch = Path(tempfile.mkdtemp(dir=self.folder.parent))
        scene = Scene(request, self.folder, scratch, lambda line: None)
        key = trial.program, trial.operator in UNSEEDED
        if key not in self.originals:
            settings = Settings("", 1, TO_END, align=True)
            self.originals[key] = scene.run("original", request.original, SINGLE, settings)
        settings = Settings("", 2, TO_END, twinned=True, uncompressed=True)
        try:
            job = scene.run("migrated", request.migrated, HOROVOD, settings)
        except (RunError, HangError) as error:
            found = (
                failed(self.originals[key], error, tolerance_for(2, None))
                if isinstance(error, RunError)
                else None
            )
            return (
                ("no", f"fails: {str(error).splitlines()[-1]}") if found else ("unknown", str(error)[-300:])
            )
        twins = run_twins(scene, SINGLE, settings, job, self.originals[key])
        invariants = check_invariants(self.originals[key], job, beside_twins(tensorflow.CAUSES))
        broken = [f"{each.name}: {each.detail}" for each in invariants if not each.holds]
        if isinstance(twins, Twinned) and not twins.comparison.agree:
            first = twins.comparison.differences[0]
            return (
                "no",
                f"{first.stage.value} {first.name}, step {first.step}: {first.original} / {first.migrated}",
            )
        if broken:
            return "no", broken[0]
        if not isinstance(twins, Twinned):
            return "unknown", twins.reason
        return ("unknown", str(twins.unchecked[0])) if twins.unchecked else ("yes", "")


def drawn(seed: int, wrong: int, only: str) -> list[tuple[Trial, str]]:
    """Every right one, and so many wrong ones: each operator once before any comes twice."""
    programs = sorted(path.stem for path in ORIGINALS.glob("*.py"))
    texts = {
        Trial(program, operator, right): edited_of(program, edit)
        for right, operators in ((True, RIGHT), (False, WRONG))
        for operator, edit in operators.items()
        for program in programs
        if only in f"{program}/{operator}"
    }
    fits = [(trial, text) for trial, text in texts.items() if text]
    of_operator: dict[str, list[tuple[Trial, str]]] = {}
    for trial, text in fits:
        of_operator.setdefault(trial.operator, []).append((trial, text))
    chooser = random.Random(seed)
    for several in of_operator.values():
        chooser.shuffle(several)
    rounds = [
        several[place]
        for place in range(len(programs))
        for several in of_operator.values()
        if place < len(several)
    ]
    return [one for one in rounds if one[0].right] + [one for one in rounds if not one[0].right][:wrong]


def main() -> int:
    """Run them, and write each result as it comes."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--wrong", type=int, default=1000)
    asked.add_argument("--only", default="")
    asked.add_argument("--kind", choices=("right", "wrong"), help="these alone")
    asked.add_argument("--results", type=Path, default=Path("twins_tf.json"))
    given = asked.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    results: list[Result] = []
    file = given.results.resolve()
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top, "project")
        folder.mkdir()
        os.chdir(folder)
        bench = Bench(folder)
        for trial, text in drawn(given.seed, given.wrong, given.only):
            if given.kind and trial.right != (given.kind == "right"):
                continue
            result = bench.run(trial, text)
            results.append(result)
            fault = "FAULT " if result.fault else ""
            print(f"{fault}{trial.program}/{trial.operator}: {result.answer} {result.told}", flush=True)
            file.write_text(json.dumps([asdict(each) for each in results], indent=1) + "\n", encoding="utf-8")
    faults = sum(result.fault for result in results)
    unknown = sum(result.answer == "unknown" for result in results)
    print(f"{len(results)} trials, {faults} faults, {unknown} not checked")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
