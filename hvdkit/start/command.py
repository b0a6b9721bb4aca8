"""`hvdkit init`: looks at a folder and names the next command. Runs and imports nothing of the project."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hvdkit import reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.at_work import at_work
from hvdkit.errors import UsageError
from hvdkit.migrate.write.apply import write_gate
from hvdkit.printable import one_line
from hvdkit.shell import word
from hvdkit.start.folder import FRAMEWORKS, Folder, look

EXAMPLES = """\
hvdkit init                inspect the current folder and suggest the next command
hvdkit init ~/project      the same for a different folder
hvdkit init --json         the same as JSON
"""
EXITS = {
    "0": "a next step is named",
    "1": "nothing to migrate was found",
    "2": "the folder could not be read",
}


def parser() -> CommandParser:
    """The parser of `hvdkit init`."""
    made = CommandParser(
        "init",
        "Inspect a folder (framework, launcher, Horovod) and suggest the next command.",
        EXAMPLES,
        EXITS,
        "Nothing is run, imported or written.",
        "hvdkit init [options] [FOLDER]",
    )
    made.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="default: the current folder")
    reports.add_reports(made, {"--json": "the same as JSON"})
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit init`. Raises UsageError where there is no such folder."""
    args = parsed(parser(), argv[1:])
    folder = Path(os.path.abspath(args.folder))
    if not folder.is_dir():
        raise UsageError(
            f"{one_line(args.folder)} is not a folder", "", "hvdkit init, in the folder of the project"
        )
    with at_work("init"):
        found = look(folder)
    steps = next_steps(found, folder)
    if args.json is not None:
        rows = {"schema": 1, "found": found.as_json(), "next": [command for command, _ in steps]}
        reports.put_json(args.json, rows)
    if args.json != reports.STDOUT:
        _show(found, steps)
    return 0 if found.scripts else 1


def next_steps(found: Folder, folder: Path) -> list[tuple[str, str]]:
    """What to type where init was called, with the reason, in order."""
    if not found.scripts:
        return [("hvdkit migrate SCRIPT", "no script here trains with PyTorch, TensorFlow or Keras")]
    script = folder / found.scripts[0].name
    first = word(os.path.relpath(script))
    uses = found.scripts[0].uses_horovod
    if uses:
        back = f"hvdkit migrate {first} --target ddp"
        steps = [
            (f"hvdkit check {first}", "it uses Horovod: find what is silently wrong"),
            (back, "leave Horovod: see the change to DDP and torchrun; nothing is written"),
        ]
    else:
        steps = [(f"hvdkit migrate {first}", "see the change to Horovod; nothing is written")]
    if not found.framework_installed:
        steps.append((f"python -m pip install {_package(found)}", "the script's framework is not installed"))
    if not found.horovod:
        steps.append(("hvdkit install-horovod", "Horovod is not installed"))
    if not uses:
        steps.append((f"hvdkit migrate {first} --verify", "run both for a few steps, and compare them"))
        written = "write it; hvdkit migrate --undo restores the file"
        steps.append((" ".join([f"hvdkit migrate {first} --write", *write_gate([script])]), written))
    return [*steps, (f"hvdkit run -np 2 python {first}", "start two ranks on this machine")]


def _package(found: Folder) -> str:
    """The package of the framework that the scripts import."""
    titles = [title for title in FRAMEWORKS.values() if title in found.frameworks] or ["PyTorch"]
    return next(name for name, title in FRAMEWORKS.items() if title == titles[0])


def _show(found: Folder, steps: list[tuple[str, str]]) -> None:
    scripts = ", ".join(one_line(script.name) for script in found.scripts[:3]) or "none"
    more = f" and {len(found.scripts) - 3} more" if len(found.scripts) > 3 else ""
    print(f"scripts    {scripts}{more}")
    print(f"framework  {', '.join(found.frameworks) or 'none'}")
    print(f"launcher   {', '.join(found.launchers) or 'none found'}")
    users = sum(script.uses_horovod for script in found.scripts)
    print(f"Horovod    {found.horovod or 'not installed'}; used by {users} of {len(found.scripts)} scripts")
    print("\nnext:")
    width = max(len(command) for command, _ in steps)
    for command, why in steps:
        print(f"  {command:<{width}}  # {why}")
