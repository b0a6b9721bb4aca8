"""The TensorFlow half of truth.py: generated Keras programs are migrated, run, and held to what is said.

    .venv-tf218/bin/python benchmarks/truth_tf.py --seed 1 --programs 40 --jobs 2 --keep /tmp/wrong

Run it with the Python of an environment that has TensorFlow. Under Keras 3 the programs are migrated with
--target hvdkit, and to plain Horovod under Keras 2. Each is run by two ranks, on two hosts and on one, and
alone. Printed are the false yes and the needless open, as truth.py prints them. Exit code 1 when there is a
false yes.
"""

from __future__ import annotations

import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from truth.claims import Fault, false_yes, migrated, needless
from truth.hunt import hunted, parser
from truth.results import Result, told
from truth.tf.choices import drawn
from truth.tf.held import ROWS, faults, jobs
from truth.tf.programs import program
from truth.warm import Warm

MODULES = ("horovod.tensorflow.keras", "truth.tf.probe")
KERAS_3 = version("keras").startswith("3")


def held(warm: Warm, seed: int, keep: Path | None) -> Result:
    """Migrate and run one program in a folder of its own."""
    choices = drawn(seed)
    with tempfile.TemporaryDirectory(prefix=f"truth-{seed}-") as name:
        folder, out = Path(name) / "program", Path(name) / "seen"
        folder.mkdir()
        out.mkdir()
        (folder / "train.py").write_text(program(choices))
        claims = migrated(warm, folder, out / "plan.json", *(("--target", "hvdkit") if KERAS_3 else ()))
        if unknown := set(claims.rows) - set(ROWS):
            raise SystemExit(f"rows that nothing is held against: {', '.join(sorted(unknown))}")
        after = (folder / "train.py").read_text()
        found: list[Fault] = []
        for job in jobs(warm, folder, out) if claims.verdict != "refused" else ():
            found = faults(choices, job)
            if found:  # the other runs would mostly find the same again
                break
    result = Result(
        seed,
        choices,
        claims,
        tuple(found),
        tuple(false_yes(claims, found)),
        tuple(needless(claims, found)),
    )
    if keep is not None and (result.lies or result.needless):
        kept = keep / str(seed)
        kept.mkdir(parents=True, exist_ok=True)
        (kept / "before.py").write_text(program(choices))
        (kept / "after.py").write_text(after)
        (kept / "wrong.txt").write_text("\n".join(told(result)) + "\n")
    return result


def main() -> int:
    """Hold the programs of a range of seeds, and print what came of it."""
    args = parser(str(__doc__)).parse_args()
    with Warm(MODULES) as warm:
        results = hunted(args, lambda seed: held(warm, seed, args.keep), ROWS)
    return int(any(result.lies for result in results))


if __name__ == "__main__":
    sys.exit(main())
