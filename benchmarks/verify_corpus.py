"""Run `hvdkit migrate --verify` on training scripts of public repositories and write what came out.

    python benchmarks/verify_corpus.py DIR [NAME...]

DIR holds a checkout for each repository of `verify_corpus.json`, named OWNER__NAME, and a folder `data` with
what the runs are given ({data} in their arguments); `packages` of a run names a folder in it with libraries
of the script's time, `options` what hvdkit migrate is told. Each result is put back into
`verify_corpus.json`, and docs/verify-corpus.md is made from all of them. NAME takes only the runs whose
repository or script holds it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RUNS = HERE / "verify_corpus.json"
ENDS = HERE / "verify_corpus_ends.json"
PAGE = HERE.parent / "docs" / "verify-corpus.md"

HEAD = """\
# Public scripts verified

Each script was rewritten by `hvdkit migrate` and by nobody else, then run before and after on 2 ranks without
a GPU (`hvdkit migrate SCRIPT --verify --device cpu`), on small folders of real images or what its repository
holds, or on noise. A single-process original is compared on one rank, and the invariants are checked on two.
Made by `python benchmarks/verify_corpus.py DIR`.

| repository | commit | script | what is in it | steps | result |
| --- | --- | --- | --- | --- | --- |
"""

TO_THE_END = """
## Run to the end

`hvdkit verify` ends a run with its last step. These ran on to their natural end, the original under its
launcher and the migrated under `horovodrun -np 2`, with the hook of `--device cpu` in both, on noise and with
small models: validation, checkpoints, a second run that resumes from the first one's, evaluation alone.
Equal: every tensor of what was saved, bit for bit. A single-process original has nothing to compare with on 2
ranks (migrated with `--suggested`, SupContrast without). Done by hand; kept in
`benchmarks/verify_corpus_ends.json`. Given to both copies: a mel filter and a reader of wav files for
voxceleb_trainer; noise in the form of MNIST and CIFAR; torch._six and numpy.float as above; dino's
torch.hub.list; `boto3` for minGPT-ddp; `tensorboard_logger` and a `reshape` for SupContrast.

| repository | commit | script | runs | original under | result |
| --- | --- | --- | --- | --- | --- |
"""

GIVEN = "\nGiven from outside of both copies, by arguments, or to hvdkit migrate:\n\n"


def run(entry: dict[str, Any], folder: Path) -> str:
    """The verdict on one script, or the first line of what stood in its way."""
    place = (folder / entry["repository"].replace("/", "__") / entry.get("folder", "")).resolve()
    arguments = [text.replace("{data}", str((folder / "data").resolve())) for text in entry["arguments"]]
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        command = [sys.executable, "-m", "hvdkit", "migrate", entry["script"], "--verify", "--device", "cpu"]
        options = ["--steps", str(entry["steps"]), "--no-diff", f"--json={result.name}", "--timeout", "600"]
        options += entry.get("options", [])
        own = [str((folder / entry["packages"]).resolve())] if entry.get("packages") else []
        # The folder of the run, for scripts that import their project from a folder of their own.
        paths = os.pathsep.join([*own, *filter(None, [os.environ.get("PYTHONPATH")]), "."])
        done = subprocess.run(
            [*command, *options, "--", *arguments],
            cwd=place,
            env={**os.environ, "PYTHONPATH": paths},
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        print(done.stderr, file=sys.stderr)
        if done.returncode == 2:
            return "not run: " + done.stderr.partition(f"hvdkit {command[3]}: ")[2].partition("\n")[0]
        return str(json.loads(Path(result.name).read_text("utf-8"))["verification"]["verdict"])


def name_of(entry: dict[str, Any]) -> str:
    """The script's path in its repository."""
    return "/".join(filter(None, (entry.get("folder"), entry["script"])))


def page(entries: list[dict[str, Any]], ends: list[dict[str, Any]]) -> str:
    """The tables in docs of all that was run, and what some scripts were given from outside."""
    rows, given = [], []
    for entry in filter(lambda entry: entry["result"], entries):
        script = name_of(entry)
        cells = [entry["repository"], entry["commit"][:8], script, entry["contents"], str(entry["steps"])]
        rows.append(f"| {' | '.join([*cells, entry['result']])} |\n")
        options = f"`{' '.join(entry['options'])}`" if entry.get("options") else ""
        said = "; ".join(filter(None, (options, entry.get("given"))))
        if said:
            given.append(f"- {entry['repository']} {script}: {said}\n")
    return HEAD + "".join(rows) + GIVEN + "".join(given) + TO_THE_END + "".join(map(end_row, ends))


def end_row(entry: dict[str, Any]) -> str:
    """A line on a program that ran to its natural end."""
    columns = ("repository", "commit", "script", "runs", "original", "result")
    return f"| {' | '.join(entry[column] or '-' for column in columns)} |\n"


def main() -> int:
    """Run what is asked for, keep the results, write the page. Exit code 1 when one does not agree."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    for place, entry in enumerate(json.loads(RUNS.read_text("utf-8"))):
        title = f"{entry['repository']} {name_of(entry)}"
        if not asked.names or any(name in title for name in asked.names):
            print(f"== {title}", file=sys.stderr)
            result = run(entry, asked.folder)
            print(f"{title}: {result}")
            entries = json.loads(RUNS.read_text("utf-8"))  # again: another may be at work
            entries[place]["result"] = result
            RUNS.write_text(json.dumps(entries, indent=1) + "\n", "utf-8")
    entries = json.loads(RUNS.read_text("utf-8"))
    PAGE.write_text(page(entries, json.loads(ENDS.read_text("utf-8"))), "utf-8")
    return int(not all(entry["result"].startswith("agree") for entry in entries))


if __name__ == "__main__":
    sys.exit(main())
