"""A hook of mkdocs: links to files outside docs/ lead to the repository; a missing target is an error."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

_LINK = re.compile(r"(?<=\]\()(\.\./[^)#\s]+)")


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """The page with its links to the repository's files as addresses. Raises: PluginError."""
    docs = Path(config.docs_dir)
    root, folder = docs.parent, docs.joinpath(page.file.src_uri).parent

    def address(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / link[0]))
        if target.is_relative_to(docs):
            return link[0]  # mkdocs checks these
        if not target.is_relative_to(root) or not target.exists():
            raise PluginError(f"{page.file.src_uri}: {link[0]} leads nowhere")
        kind = "tree" if target.is_dir() else "blob"
        return f"{config.repo_url.rstrip('/')}/{kind}/main/{target.relative_to(root).as_posix()}"

    return _LINK.sub(address, markdown)
