"""The script uses a name that the installed Horovod lacks."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, Level, says

CAUSE = Cause(
    id="horovod_old",
    title="{module} has no {name}{where}",
    why=(
        "The installed Horovod is older than the one that the script was written for, or the name is "
        "misspelled."
    ),
    fix=(
        "python -c 'import horovod; print(horovod.__version__)' on every host; hvdkit "
        "install-horovod builds 0.28.1"
    ),
    find=says(
        r"^AttributeError: module '(?P<module>horovod(?:\.\w+)+)' has no attribute '(?P<name>[A-Za-z]\w*)'",
        # Python 2 did not say which module.
        r"'(?P<module>module)' object has no attribute '(?P<name>broadcast_(?:optimizer_state"
        r"|global_variables))'",
        in_job=True,
    ),
    excerpt="""\
AttributeError: module 'horovod.torch' has no attribute 'Average'
""",
    level=Level.OWN,
    general={"module": "horovod.torch", "name": "NAME"},
    source="https://github.com/horovod/horovod/issues/1590",
)
