"""A report as one HTML file: no script, font or image from elsewhere; light and dark, from 375 px on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from hvdkit.earlier import HTML

STYLE = """\
:root { color-scheme: light dark; --line: #d0d7de; --soft: #f6f8fa; --add: #dafbe1; --del: #ffebe9;
  --note: #fff8c5; --text: #1f2328; --page: #fff; --good: #1a7f37; --bad: #cf222e; --open: #9a6700;
  --one: #0969da; --two: #bc4c00; }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --soft: #151b23; --add: #12311d;
  --del: #3d1519; --note: #2f2a10; --text: #f0f6fc; --page: #0d1117; --good: #3fb950; --bad: #f85149;
  --open: #d29922; --one: #4493f8; --two: #f0883e; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 0 auto;
  max-width: 1280px; padding: 16px; }
h1 { font-size: 1.4em; } h2 { font-size: 1.15em; margin-top: 2em; }
.option { white-space: nowrap; }
code, .diff { font: 12.5px/1.45 ui-monospace, monospace; } h2 code { font-size: 1em; }
.good { color: var(--good); } .bad { color: var(--bad); } .open { color: var(--open); }
.verdict { font-size: 1.15em; font-weight: 600; border-left: 4px solid; padding: 4px 12px; margin: 6px 0; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; }
th, td { padding: 4px 10px; border-bottom: 1px solid var(--line); vertical-align: top; }
.diff { table-layout: fixed; min-width: 720px; }
.diff td { padding: 0 6px; border: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.diff .n { width: 44px; text-align: right; opacity: .6; }
.add { background: var(--add); } .del { background: var(--del); }
.skip td { background: var(--soft); opacity: .7; }
.diff .note td { background: var(--note); white-space: normal; padding: 4px 12px;
  font: 14px/1.5 system-ui, sans-serif; }
a { color: var(--one); } a:focus-visible, summary:focus-visible, input:focus-visible {
  outline: 2px solid var(--one); }
summary { cursor: pointer; font-weight: 600; } ul.tasks { list-style: none; padding-left: 0; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
"""


def page(title: str, body: Iterable[str]) -> str:
    """The whole file. title: plain text. body: HTML."""
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8">{HTML}<title>{escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>\n{STYLE}</style></head><body><main>",
        f"<h1>{escape(title)}</h1>",
        *body,
        "</main></body></html>",
    ]
    return "\n".join(parts) + "\n"


def prose(text: str) -> str:
    """A sentence as HTML: an option of a command stays on one line, with the number behind it."""
    return re.sub(r"--[a-z][a-z-]*(?: \d+)?", r'<span class="option">\g<0></span>', escape(text))


def verdict(text: str, kind: str) -> str:
    """A line of the verdict. kind: good, bad or open."""
    return f'<p class="verdict {kind}">{prose(text)}</p>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table. rows: HTML of the cells."""
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    lines = ("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def tasks(texts: Iterable[str]) -> str:
    """A checklist. texts: HTML."""
    items = "".join(f'<li><label><input type="checkbox"> {text}</label></li>' for text in texts)
    return f'<ul class="tasks">{items}</ul>'


def curves(lines: Sequence[tuple[str, Sequence[float]]], label: str) -> str:
    """Lines over steps as SVG. lines: a name and a finite value for each step. label: what is drawn."""
    values = [value for _, points in lines for value in points]
    steps = max((len(points) for _, points in lines), default=0)
    if not values or steps < 2:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    drawn = []
    for number, (name, points) in enumerate(lines):
        colour, dash = (("--one", ""), ("--two", "6 4"))[number % 2]
        at = " ".join(
            f"{60 + 520 * n / (steps - 1):.1f},{20 + 180 * (high - value) / span:.1f}"
            for n, value in enumerate(points)
        )
        drawn.append(
            f'<polyline points="{at}" fill="none" style="stroke: var({colour})" stroke-width="2" '
            f'stroke-dasharray="{dash}"/><text x="{60 + 130 * number}" y="238">'
            f'<tspan style="fill: var({colour})">{"- -" if dash else "—"}</tspan> {escape(name)}</text>'
        )
    return (
        f'<svg viewBox="0 0 600 250" width="600" role="img" aria-label="{escape(label)}">'
        f'<text x="4" y="26">{high:.4g}</text><text x="4" y="204">{low:.4g}</text>'
        f'<path d="M60 20V200H580" fill="none" stroke="currentColor" opacity=".4"/>{"".join(drawn)}</svg>'
    )
