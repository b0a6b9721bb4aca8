"""`hvdkit rules` and the pages of the rules: the rules, as their own files describe them."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from hvdkit.arguments import parsed
from hvdkit.check import rules as check
from hvdkit.errors import UsageError
from hvdkit.migrate import rules as migrate
from hvdkit.migrate.rule import Rule
from hvdkit.migrate.selection import nearest_rule


def every_rule() -> tuple[Rule, ...]:
    """The rules of migrate and of check, by number."""
    return tuple(sorted((*migrate.all_rules(), *check.all_rules()), key=lambda rule: rule.id))


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit rules`."""
    parser = argparse.ArgumentParser(
        prog="hvdkit rules",
        description="List the rules of hvdkit migrate and hvdkit check.",
        epilog="example: hvdkit rules --json",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    args = parsed(parser, argv[1:])
    if args.json:
        rows = [
            {"id": r.id, "title": r.title, "what": r.what, "why": r.why, "safety": r.safety}
            for r in every_rule()
        ]
        json.dump(rows, sys.stdout, indent=2)
        print()
        return 0
    for rule in every_rule():
        print(f"{rule.id}  {rule.title}")
    return 0


def page_of(name: str) -> str:
    """The page of the rule with this id, in any case. Raises UsageError when there is none."""
    for rule in every_rule():
        if rule.id == name.upper():
            return page(rule)
    near = nearest_rule(name, [rule.id for rule in every_rule()])
    hint = f"did you mean {near}? " if near else ""
    raise UsageError(f"there is no rule {name!r}", "", f"{hint}hvdkit rules lists them")


def pages(repository: Path) -> dict[str, str]:
    """The Markdown pages of all rules by file name, with an index; the repository's docs/rules."""
    parts = ["# The rules\n\nMade from the rules by `scripts/docs`."]
    for command, own in (("migrate", migrate.all_rules()), ("check", check.all_rules())):
        rows = [f"- [{rule.id}]({rule.id}.md) {rule.title}" for rule in own]
        parts.append(f"## hvdkit {command}\n\n" + "\n".join(rows))
    index = "\n\n".join(parts) + "\n"
    rules = {f"{rule.id}.md": page(rule) + _link(rule, repository) for rule in every_rule()}
    return {"README.md": index, **rules}


def _link(rule: Rule, repository: Path) -> str:
    """Where a page in docs/rules leads to the rule's other examples."""
    command = rule.check.__module__.split(".")[1]
    folder = Path("tests", command, "examples", rule.id)
    if not (repository / folder).exists():
        return ""
    return f"\n[More examples](../../{folder.as_posix()}), each a test of this rule.\n"


def page(rule: Rule) -> str:
    """A rule's page in Markdown: text, then each example as a diff, then what it leaves alone."""
    parts = [
        f"# {rule.id}: {rule.title}\n",
        rule.what,
        f"\n**Why.** {rule.why}",
        f"\n**{_split(rule.safety)}",
    ]
    if rule.changes:
        parts.append("\n## What it changes")
    for change in rule.changes:
        old, new = change.texts()
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=30)
        parts.append("\n" + (f"{change.note}\n\n" if change.note else "") + "```diff")
        parts += list(lines)[3:]
        parts.append("```")
    parts.append("\n## What it leaves alone")
    for keep in rule.keeps:
        said = " (reported)" if keep.reported else ""
        parts.append(
            f"\n{keep.reason[:1].upper()}{keep.reason[1:]}{said}:\n\n```python\n{keep.text().rstrip()}\n```"
        )
    return "\n".join(parts) + "\n"


def _split(safety: str) -> str:
    """`Safe: because` with the first word in bold."""
    head, _, tail = safety.partition(":")
    return f"{head}:** {tail.strip()}" if tail else f"Safety.** {safety}"
