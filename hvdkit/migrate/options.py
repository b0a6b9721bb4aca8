"""What the person asked for, by options of the command line or in pyproject.toml."""

from __future__ import annotations

from pathlib import Path

from hvdkit.dataclass import dataclass

DDP = "ddp"  # the target of the way back


@dataclass(frozen=True)
class Left:
    """A change that the person leaves out: a rule's, at the statement that begins in a line of the file."""

    path: Path
    line: int
    rule: str


@dataclass(frozen=True)
class Options:
    """What the person asked for. target: "horovod" writes plain horovod.torch, "hvdkit" the wrapper form,
    "ddp" torch.distributed for a script that uses Horovod.

    left: what is not rewritten, though the rules would. keras: the version that is installed where the
    program is migrated, for programs that do not say theirs; "" where it is not known. keras_3_target: the
    target for programs on Keras 3, where plain Horovod averages nothing; "" for the same. exclude,
    per_file_ignores: patterns of files below `root` of which check reports nothing, or nothing of some rules.
    why: the name of the rows whose reasons are asked for, or a part of it.
    """

    target: str = "horovod"
    suggested: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    left: frozenset[Left] = frozenset()
    keras: str = ""
    keras_3_target: str = ""
    exclude: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    root: Path = Path()
    why: str = ""

    def allows(self, rule: str) -> bool:
        """Whether --select and --ignore leave a rule, by prefix of its id."""
        selected = not self.select or rule.startswith(self.select)
        return selected and not (self.ignore and rule.startswith(self.ignore))
