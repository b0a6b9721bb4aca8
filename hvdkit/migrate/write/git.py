"""Whether a checkout has changes that are not committed, as git says, without obeying the checkout.

Its configuration may come from somebody else and name programs, which `git status` runs: core.fsmonitor, the
filters of .gitattributes, hooks, the transport of a partial clone. So git is given an empty repository that
borrows HEAD, the index and the objects of the checkout. Of its settings only those are carried over that are
values. The user's own configuration holds, with its filters.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hvdkit.errors import HvdkitError

_PATIENCE_S = 120.0  # a large checkout on a slow file system; what the tree holds may be a FIFO
# What decides whether a file counts as changed. None of them names a program.
_VALUES = (
    r"^(core\.(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode|trustctime|checkstat"
    r"|sparsecheckout|sparsecheckoutcone|excludesfile|attributesfile)"
    r"|status\.showuntrackedfiles|extensions\.objectformat)$"
)
_SUBMODULE = "160000 "  # the mode of its entry in the index


class GitError(HvdkitError):
    """git cannot tell whether a checkout has changes."""


def changes(root: Path) -> int:
    """How many changes, untracked files and changes of submodules counted. Raises: GitError."""
    found, waiting = 0, [root]
    while waiting:
        checkout = waiting.pop()
        with tempfile.TemporaryDirectory(prefix="hvdkit-git-") as scratch:
            settings, borrowed = _borrow(checkout, Path(scratch))
            asked = [*settings, "status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty"]
            found += _git(checkout, *asked, **borrowed).count("\0")
            listed = _git(checkout, *settings, "ls-files", "--stage", "-z", **borrowed).split("\0")
        waiting += _submodules(checkout, listed)
    return found


def _borrow(root: Path, own: Path) -> tuple[list[str], dict[str, str]]:
    """Make the empty repository; its settings as options of git, and the variables by which git uses it."""
    index, objects, info = (root / _path(root, name) for name in ("index", "objects", "info"))
    (own / "refs").mkdir()
    (own / "info").symlink_to(info)
    for shared in index.parent.glob("sharedindex.*"):
        (own / shared.name).symlink_to(shared)
    commit = _git(root, "rev-parse", "--quiet", "--verify", "HEAD", failing="").strip()
    (own / "HEAD").write_text(f"{commit or 'ref: refs/heads/none'}\n", encoding="utf-8")
    listed = _git(root, "config", "-z", "--get-regexp", _VALUES, failing="").split("\0")
    values = [each.replace("\n", "=", 1) for each in listed if each]
    if "extensions.objectformat=sha256" in values:
        text = "[core]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\n"
        (own / "config").write_text(text, encoding="utf-8")
    # A monitor that the user has for all checkouts would watch this one.
    return [part for each in (*values, "core.fsmonitor=false") for part in ("-c", each)], {
        "GIT_DIR": str(own),
        "GIT_WORK_TREE": str(root),
        "GIT_INDEX_FILE": str(index),
        "GIT_OBJECT_DIRECTORY": str(objects),
    }


def _submodules(root: Path, listed: list[str]) -> Iterator[Path]:
    """Checkouts of submodules; none through a link, which may lead back here."""
    for entry in listed:
        name = entry.partition("\t")[2]
        folder = Path(os.path.realpath(root), name)
        if entry.startswith(_SUBMODULE) and (folder / ".git").exists() and folder == folder.resolve():
            yield folder


def _path(root: Path, name: str) -> str:
    """Where a part of the repository is, relative to root or absolute."""
    return _git(root, "rev-parse", "--git-path", name).removesuffix("\n")


def _git(root: Path, *arguments: str, failing: str | None = None, **variables: str) -> str:
    """What a git command prints. It runs nothing of the tree and writes nothing.

    failing: the answer where git ends with another exit code than 0. Raises: GitError.
    """
    command = ["git", "-C", str(root), "--no-optional-locks", *arguments]
    environment = {name: value for name, value in os.environ.items() if name != "GIT_COMMON_DIR"}
    try:
        done = subprocess.run(
            command,
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=_PATIENCE_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise _unknown(root, "there is no git program on PATH") from error
    except subprocess.TimeoutExpired as error:
        raise _unknown(root, f"git gives no answer within {_PATIENCE_S:g} s") from error
    if done.returncode == 0:
        return done.stdout
    if failing is None:
        raise _unknown(root, done.stderr.strip())
    return failing


def _unknown(root: Path, seen: str) -> GitError:
    return GitError(
        f"git cannot examine {root}: {seen}",
        "hvdkit's edits could be mixed with changes that are not committed",
        "commit them, and add --allow-dirty",
    )
