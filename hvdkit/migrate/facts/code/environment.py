"""What launchers put into the environment, and mappings of a script's own that hold a copy of it."""

from __future__ import annotations

import ast

from hvdkit.migrate.facts.code.commands import starts_launcher
from hvdkit.source.index.names import Names

# What torchrun, srun and MPI's launchers set -> Horovod's function of the same meaning.
ENVIRONMENT = {
    "RANK": "rank",
    "WORLD_SIZE": "size",
    "LOCAL_RANK": "local_rank",
    "LOCAL_WORLD_SIZE": "local_size",
    "LOCAL_SIZE": "local_size",  # no launcher's: scripts set it for themselves, where a launcher was found
    "GROUP_RANK": "cross_rank",
    "NODE_RANK": "cross_rank",
    "GROUP_WORLD_SIZE": "cross_size",
    "SLURM_PROCID": "rank",
    "SLURM_NTASKS": "size",
    "SLURM_NPROCS": "size",
    "SLURM_LOCALID": "local_rank",
    "SLURM_NTASKS_PER_NODE": "local_size",
    "SLURM_TASKS_PER_NODE": "local_size",
    "SLURM_NODEID": "cross_rank",
    "SLURM_NNODES": "cross_size",
    "SLURM_JOB_NUM_NODES": "cross_size",
    "OMPI_COMM_WORLD_RANK": "rank",
    "OMPI_COMM_WORLD_SIZE": "size",
    "OMPI_COMM_WORLD_LOCAL_RANK": "local_rank",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "local_size",
    "OMPI_COMM_WORLD_NODE_RANK": "local_rank",
    "MV2_COMM_WORLD_RANK": "rank",
    "MV2_COMM_WORLD_SIZE": "size",
    "MV2_COMM_WORLD_LOCAL_RANK": "local_rank",
    "MV2_COMM_WORLD_LOCAL_SIZE": "local_size",
    "PMI_RANK": "rank",
    "PMI_SIZE": "size",
    "PMI_LOCAL_RANK": "local_rank",
    "PMI_LOCAL_SIZE": "local_size",
    "PALS_RANKID": "rank",
    "PALS_LOCAL_RANKID": "local_rank",
    "PALS_LOCAL_SIZE": "local_size",
    "MPI_LOCALRANKID": "local_rank",
    "MPI_LOCALNRANKS": "local_size",
}

# What torch.distributed itself takes where nothing is said of rank 0's address.
DEFAULTS = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"}


def is_environment(names: Names, node: ast.AST) -> bool:
    """Whether an expression is os.environ, or its keys."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "keys":
        node = node.func.value
    return "os.environ" in names.qualified(node)


def gathered(names: Names, node: ast.AST | None) -> list[ast.Constant] | None:
    """The variables, launcher's among them, of `{key: os.environ[key] for key in ("RANK", "WORLD_SIZE")}`."""
    if not isinstance(node, ast.DictComp) or len(node.generators) != 1 or starts_launcher(names):
        return None
    loop, value = node.generators[0], node.value
    if loop.ifs or loop.is_async or not isinstance(loop.target, ast.Name):
        return None
    if not isinstance(value, ast.Subscript) or not is_environment(names, value.value):
        return None
    if not all(isinstance(key, ast.Name) and key.id == loop.target.id for key in (node.key, value.slice)):
        return None
    every = loop.iter.elts if isinstance(loop.iter, (ast.Tuple, ast.List, ast.Set)) else []
    variables = [each for each in every if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    known = any(variable.value in ENVIRONMENT for variable in variables)
    return variables if known and len(variables) == len(every) else None


def is_gathered(names: Names, node: ast.AST) -> bool:
    """Whether an expression is a name that always means such a dict, which nothing may have changed since."""
    if not isinstance(node, ast.Name):
        return False
    bindings = names.bindings(node.id, node)
    made = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "assign" else None
    return gathered(names, made) is not None and all(_only_reads(names, use) for use in names.uses[node.id])


def _only_reads(names: Names, use: ast.Name) -> bool:
    """Whether a use of a mapping's name looks an item up, formats or prints it, or is what binds the name."""
    parent = names.parents[use]
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Load)
    printed = isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "print"
    return printed or isinstance(parent, ast.FormattedValue) or not isinstance(use.ctx, ast.Load)
