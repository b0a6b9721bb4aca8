"""How a job is started, as a file: `hvdkit tune` writes it, and `hvdkit run --tuned FILE` reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hvdkit.arguments import nearest
from hvdkit.errors import HvdkitError
from hvdkit.files import read_file
from hvdkit.toml import NotToml, parse_toml

FILE = "hvdkit-tune.toml"
# No other variable is read from a file: it could make a job run something else.
VARIABLES = (
    "OMP_NUM_THREADS",
    "HOROVOD_CYCLE_TIME",
    "HOROVOD_FUSION_THRESHOLD",
    "HOROVOD_CACHE_CAPACITY",
    "HOROVOD_HIERARCHICAL_ALLREDUCE",
    "HOROVOD_NUM_NCCL_STREAMS",
)
_KEYS = ("controller", "yield_when_idle", "variables")
_LARGEST = 1 << 16  # bytes of a file


class TunedError(HvdkitError):
    """The file holds no settings of a job."""


@dataclass(frozen=True)
class Setting:
    """How a job is started. controller: "" for the one that `hvdkit run` chooses. yields: whether ranks that
    wait leave their core (mpi_yield_when_idle), None for what `hvdkit run` chooses. variables: for all ranks.
    """

    controller: str = ""
    yields: bool | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


def written(setting: Setting, remarks: list[str]) -> str:
    """The file's text. remarks: comments at its top."""
    lines = [*(f"# {remark}" for remark in remarks)]
    if setting.controller:
        lines.append(f'controller = "{setting.controller}"')
    if setting.yields is not None:
        lines.append(f"yield_when_idle = {str(setting.yields).lower()}")
    lines += ["", "[variables]", *(f'{name} = "{value}"' for name, value in setting.variables.items())]
    return "\n".join(lines) + "\n"


def read(path: Path) -> Setting:
    """What a file says. Raises: TunedError."""
    try:
        table = parse_toml(read_file(path, _LARGEST))
    except OSError as error:
        raise TunedError(
            f"cannot read {path}: {error.strerror or error}", fix="hvdkit tune writes one"
        ) from None
    except NotToml as error:
        raise TunedError(f"{path} is not TOML: {error}", fix="hvdkit tune writes one") from None
    variables = table.get("variables", {})
    _refuse_unknown(path, table, _KEYS)
    if not isinstance(variables, dict):
        raise TunedError(f"{path}: variables is no table", fix="write [variables]")
    _refuse_unknown(path, variables, VARIABLES)
    controller, yields = table.get("controller", ""), table.get("yield_when_idle")
    if controller not in ("", "gloo", "mpi"):
        raise TunedError(f"{path}: controller = {controller!r}", fix='write "gloo" or "mpi"')
    if yields is not None and not isinstance(yields, bool):
        raise TunedError(f"{path}: yield_when_idle = {yields!r}", fix="write true or false")
    for name, value in variables.items():
        if not isinstance(value, str):
            raise TunedError(f"{path}: {name} = {value!r} is no text", fix=f'write {name} = "{value}"')
    return Setting(controller, yields, variables)


def _refuse_unknown(path: Path, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in table:
        if name not in known:
            near = nearest(name, known)
            hint = f"did you mean {near}?" if near else f"known are {', '.join(known)}"
            raise TunedError(f"{path}: {name!r} is not read from it", fix=hint)
