"""srun without an MPI: Slurm says which task this is, of how many, and on which hosts.

https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hvdkit.bootstrap import ports
from hvdkit.bootstrap.environment import CONTROL_PORT
from hvdkit.bootstrap.launch import Launch, Meeting
from hvdkit.bootstrap.variables import Family, incomplete, integer, port

# sbatch and salloc set SLURM_NTASKS for the allocation; only srun makes processes, in a step. In a step of
# one task (an interactive shell) SLURM_NTASKS may still be the allocation's: ask the step.
FAMILY = Family(
    "srun",
    "SLURM_PROCID",
    ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
    "SLURM_NTASKS_PER_NODE",
    only_with="SLURM_STEP_ID",
)
_STEPS = 16


def meeting(environ: Mapping[str, str], launch: Launch) -> Meeting:
    """Where the tasks meet: on the step's first host, on a port made of the job's and the step's number.

    Raises: LaunchEnvironmentError: the step's hosts or the job's number are missing or wrong.
    """
    nodes = environ.get("SLURM_STEP_NODELIST") or environ.get("SLURM_JOB_NODELIST", "")
    if not nodes:
        raise incomplete(launch.size_variable, str(launch.size), "SLURM_STEP_NODELIST", "srun")
    if not environ.get("SLURM_JOB_ID"):
        raise incomplete(launch.size_variable, str(launch.size), "SLURM_JOB_ID", "srun")
    job, step = integer("SLURM_JOB_ID", environ), integer("SLURM_STEP_ID", environ)
    control = (
        port(CONTROL_PORT, environ) if environ.get(CONTROL_PORT) else ports.of_number(job * _STEPS + step)
    )
    restarts = environ.get("SLURM_RESTART_COUNT", "0")
    name = f"srun/{job}.{step}/{restarts}"
    return Meeting(first_host(nodes), f"SLURM_STEP_NODELIST={nodes}", control, name, nodes)


def first_host(nodes: str) -> str:
    """The first host of Slurm's short form.

    >>> first_host("gpu[08-11,14],login")
    'gpu08'
    >>> first_host("rack[1-2]n[03,05]")
    'rack1n03'
    """
    first = re.match(r"(?:[^,\[]|\[[^\]]*\])*", nodes)
    return re.sub(r"\[([^\],-]*)[^\]]*\]", r"\1", first[0] if first else nodes)
