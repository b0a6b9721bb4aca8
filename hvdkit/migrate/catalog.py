"""`hvdkit rules` and `hvdkit explain`: the rules, as their own files describe them."""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Sequence

from hvdkit.errors import UsageError
from hvdkit.migrate.rule import Rule
from hvdkit.migrate.rules import all_rules


def main(argv: Sequence[str]) -> int:
    """Run `hvdkit rules` or `hvdkit explain RULE`."""
    return _rules(argv[1:]) if argv[0] == "rules" else _explain(argv[1:])


def _rules(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="hvdkit rules",
        description="List the rules of hvdkit migrate.",
        epilog="example: hvdkit rules --json",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    args = parser.parse_args(argv)
    if args.json:
        rows = [
            {"id": r.id, "title": r.title, "what": r.what, "why": r.why, "safety": r.safety}
            for r in all_rules()
        ]
        json.dump(rows, sys.stdout, indent=2)
        print()
        return 0
    for rule in all_rules():
        print(f"{rule.id}  {rule.title}")
    return 0


def _explain(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="hvdkit explain",
        description="Say what a rule does, why, and when it is safe.",
        epilog="example: hvdkit explain HVD201",
    )
    parser.add_argument("rule", help="a rule's id")
    args = parser.parse_args(argv)
    wanted = args.rule.upper()
    for rule in all_rules():
        if rule.id == wanted:
            print(page(rule), end="")
            return 0
    raise UsageError(f"there is no rule {args.rule!r}", "", "hvdkit rules lists them")


def pages() -> dict[str, str]:
    """The Markdown pages of all rules by file name, with an index; docs/rules holds them."""
    rows = [f"- [{rule.id}]({rule.id}.md) {rule.title}" for rule in all_rules()]
    index = (
        "# The rules of hvdkit migrate\n\nMade from the rules by `scripts/docs`.\n\n" + "\n".join(rows) + "\n"
    )
    return {"README.md": index, **{f"{rule.id}.md": page(rule) for rule in all_rules()}}


def page(rule: Rule) -> str:
    """A rule's page in Markdown: text, then each example as a diff, then what it leaves alone."""
    parts = [
        f"# {rule.id}: {rule.title}\n",
        rule.what,
        f"\n**Why.** {rule.why}",
        f"\n**{_split(rule.safety)}",
    ]
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
