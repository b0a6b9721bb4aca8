"""`hvdkit rules` and the pages of the rules, made of what their files say. No rule is loaded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hvdkit import reports
from hvdkit.arguments import CommandParser, parsed
from hvdkit.errors import UsageError
from hvdkit.migrate.catalog.rule import Page
from hvdkit.migrate.catalog.rule_files import COMMANDS, FOLDERS, read, rule_files, title_in

# The chapters of the index, each with the beginnings of its rules' ids.
TOPICS = {
    "From Horovod back to DDP": ("HVD0",),
    "How ranks start, their numbers and devices": ("HVD1", "HVD85"),
    "Wrappers, first weights and state": ("HVD2", "HVD83"),
    "Data": ("HVD3", "HVD81"),
    "Gradients, optimizers and learning rates": ("HVD4", "HVD82", "HVD84", "HVD88"),
    "Collectives, evaluation and loops": ("HVD5", "HVD80", "HVD87"),
    "Files and output": ("HVD6", "HVD86"),
    "TensorFlow and Keras": ("HVD7", "HVD89"),
    "What is refused, or only reported": ("HVD9",),
}
_ARGUMENTS = r"\((?:[^()\n]|\([^()\n]*\))*\)"
# `hvd.broadcast(0, root_rank=0)`, `torch.load`, `--suggested`, `shuffle=False`, `num_replicas`, `WORLD_SIZE`
_NAMES = re.compile(
    rf"(?<![\w/.-])(?:--[a-z][\w-]+|[a-z]\w*=\w+(?:\.\w+)*(?:{_ARGUMENTS})?|[A-Za-z]\w*(?:\.\w+)*{_ARGUMENTS}"
    r"|(?:hvd|hvdkit|horovod|torch|torchvision|tf|tensorflow|keras|np|numpy|dist|os)(?:\.\w+)+"
    r"|[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+)"
)
EXAMPLES = """\
hvdkit rules           the id and title of each
hvdkit rules --json    what each does, why, and when it is safe
"""


def parser() -> CommandParser:
    """The parser of `hvdkit rules`."""
    made = CommandParser(
        "rules", "List the rules of hvdkit migrate and hvdkit check.", EXAMPLES, {"0": "listed"}
    )
    reports.add_reports(made, {"--json": "the same as JSON"})
    return made


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit rules`."""
    args = parsed(parser(), argv[1:])
    files = rule_files(*COMMANDS)
    if args.json is not None:
        rows = [
            {"id": p.id, "title": p.title, "what": p.what, "why": p.why, "safety": p.safety}
            for p in map(read, files.values())
        ]
        reports.put_json(args.json, rows)
        if args.json == reports.STDOUT:
            return 0
    for name, path in files.items():
        print(f"{name}  {title_in(path)}")
    return 0


def page_of(name: str) -> str:
    """The page of the rule with this id, in any case. Raises UsageError when there is none."""
    files = rule_files(*COMMANDS)
    if file := files.get(name.upper()):
        return text_of(read(file))
    from hvdkit.migrate.catalog.selection import nearest_rule

    near = nearest_rule(name, [*files])
    hint = f"did you mean {near}? " if near else ""
    raise UsageError(f"there is no rule {name!r}", "", f"{hint}hvdkit rules lists them")


def pages(repository: Path) -> dict[str, str]:
    """The Markdown pages of all rules by file name, with an index by topic; the repository's docs/rules."""
    made = {}
    titles: dict[str, dict[str, str]] = {command: {} for command in COMMANDS}
    for command in COMMANDS:
        for page in map(read, rule_files(command).values()):
            examples = Path("tests", FOLDERS[command].partition("/")[0], "examples", page.id)
            made[f"{page.id}.md"] = text_of(page) + _link(examples, repository)
            titles[command][page.id] = page.title
    return {"README.md": _index(titles), **made}


def _index(titles: Mapping[str, Mapping[str, str]]) -> str:
    """The rules by topic. titles: of each command, by id."""
    parts = ["# The rules by topic\n\nMade from the rules by `scripts/docs`."]
    for topic, series in TOPICS.items():
        parts.append(f"## {topic}")
        for command in COMMANDS:
            rows = [
                f"- [{name}]({name}.md) {title}"
                for name, title in titles[command].items()
                if name.startswith(series)
            ]
            if rows:
                parts.append(f"`hvdkit {command}`:\n\n" + "\n".join(rows))
    return "\n\n".join(parts) + "\n"


def _link(folder: Path, repository: Path) -> str:
    """Where a page in docs/rules leads to the rule's other examples."""
    if not (repository / folder).exists():
        return ""
    return f"\n[More examples](../../{folder.as_posix()}), each a test of this rule.\n"


def _code(text: str) -> str:
    """A sentence with its names of libraries and options as code, where they are not yet."""
    parts = text.split("`")
    parts[::2] = [_NAMES.sub(r"`\g<0>`", part) for part in parts[::2]]
    return "`".join(parts)


def text_of(page: Page) -> str:
    """A rule's page in Markdown: text, then each example as a diff, then what it leaves alone."""
    import difflib

    parts = [
        f"# {page.id}: {page.title}\n",
        _code(page.what),
        f"\n**Why.** {_code(page.why)}",
        f"\n**{_split(_code(page.safety))}",
    ]
    if page.changes:
        parts.append("\n## What it changes")
    for change in page.changes:
        old, new = change.texts()
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=30)
        parts.append("\n" + (f"{change.note}\n\n" if change.note else "") + "```diff")
        parts += list(lines)[3:]
        parts.append("```")
    if page.keeps:
        parts.append("\n## What it leaves alone")
    for keep in page.keeps:
        said = " (reported)" if keep.reported else ""
        parts.append(
            f"\n{keep.reason[:1].upper()}{keep.reason[1:]}{said}:\n\n```python\n{keep.text().rstrip()}\n```"
        )
    return "\n".join(parts) + "\n"


def _split(safety: str) -> str:
    """`Safe: because` with the first word in bold."""
    head, _, tail = safety.partition(":")
    return f"{head}:** {tail.strip()}" if tail else f"Safety.** {safety}"
