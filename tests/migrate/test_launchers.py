"""Command lines of launchers, found beside scripts, and what takes their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.migrate.engine import make_plan
from hvdkit.migrate.engine.launchers import launch_lines
from hvdkit.migrate.facts import Options

DDP = "import torch.distributed as dist\n\ndist.init_process_group('gloo')\n"


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        (
            "torchrun --standalone --nproc_per_node=8 train.py --lr 1",
            "horovodrun -np 8 python train.py --lr 1",
        ),
        (
            "python -m torch.distributed.launch --nproc_per_node 4 --use_env train.py -a 'b c'",
            "horovodrun -np 4 python train.py -a 'b c'",
        ),
        (
            "OMP_NUM_THREADS=1 python3 -u -m torch.distributed.run --nproc-per-node 2 ./src/train.py > log",
            "OMP_NUM_THREADS=1 horovodrun -np 2 python -u ./src/train.py",
        ),
        (
            "torchrun --nnodes=2 --node_rank=0 --nproc_per_node=8 --master_addr=10.0.0.1 train.py",
            "horovodrun -np 16 -H HOST1:8,HOST2:8 python train.py",
        ),
        (
            "srun torchrun --nnodes $NODES --nproc_per_node $GPUS --rdzv_id 7 train.py",
            "hvdkit run -np $(($NODES * $GPUS)) python train.py",
        ),
        (
            "torchrun --nnodes 2 --nproc_per_node 4 --max-restarts=3 train.py",
            "hvdkit run --restarts 3 -np 8 -H HOST1:4,HOST2:4 python train.py",
        ),
        (
            "torchrun --nnodes 1:3 --nproc_per_node 4 --max_restarts 3 train.py",
            "hvdkit run --restarts 3 --min-np 4 -np 12 -H HOST1:4,HOST2:4,HOST3:4 python train.py",
        ),
        ("torchrun --nproc_per_node 4 --max_restarts 0 train.py", "horovodrun -np 4 python train.py"),
        (
            "torchrun --nproc_per_node=gpu -m pack.train --x",
            "horovodrun -np GPUS_PER_HOST python -m pack.train --x",
        ),
        ("torchrun --nproc_per_node=${2:-2} ${1:-train.py}", "horovodrun -np ${2:-2} python ${1:-train.py}"),
        (
            "srun python -u train.py --lr 1",
            "hvdkit run -np $SLURM_NTASKS python -u train.py --lr 1",
        ),
        (
            "srun -l -N2 --ntasks-per-node=4 --mpi=pmix -c 8 python3 ./train.py > log",
            "hvdkit run -np 8 python3 ./train.py",
        ),
        ("srun -N 1 -n 2 python train.py", "hvdkit run -np 2 python train.py"),
        ("mpiexec -n 8 python train.py --lr 1", "horovodrun -np 8 python train.py --lr 1"),
        (
            "mpirun -np $N -x PATH --hostfile h python train.py",
            "horovodrun -np $N --hostfile h python train.py",
        ),
        ("run it with `torchrun train.py` on one GPU", "horovodrun -np 1 python train.py"),
    ],
)
def test_the_line_that_takes_its_place(line: str, instead: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(f"# Training\n\n    {line}\n")
    found = launch_lines([tmp_path], [tmp_path / "train.py"])
    assert [(item.line, item.instead) for item in found] == [(3, instead)]


@pytest.mark.parametrize(
    ("before", "command"),
    [
        ("", "srun torchrun --nnodes 2 --nproc_per_node 4 train.py"),
        ("NCCL_DEBUG=INFO ", "srun --ntasks-per-node=1 torchrun --nnodes 2 --nproc_per_node 4 train.py"),
    ],
)
def test_srun_is_replaced_with_the_launcher_that_it_starts(before: str, command: str, tmp_path: Path) -> None:
    """`srun hvdkit run` would be refused: it starts the job once for each task."""
    (tmp_path / "job.sh").write_text(f"{before}{command} > log\n")
    (found,) = launch_lines([tmp_path], [tmp_path / "train.py"])
    assert found.command == before + command
    assert found.instead == f"{before}hvdkit run -np 8 python train.py"


@pytest.mark.parametrize(
    "line",
    [
        "torchrun --nproc_per_node=8 other.py",
        "# torchrun train.py",
        "mpirun -np 8 --map-by socket python train.py",
        "mpirun python train.py",
        "srun python other.py",
        "srun bash -c 'python train.py'",
        "srun -Z 3 python train.py",
        "jsrun -n 4 python train.py",
        "python train.py",
        "deepspeed train.py",
        "pip install torchrun",
    ],
)
def test_what_is_no_launch_of_the_script(line: str, tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text(line + "\n")
    assert launch_lines([tmp_path], [tmp_path / "train.py"]) == []


def test_lines_joined_by_backslashes_and_only_launcher_files(tmp_path: Path) -> None:
    (tmp_path / "run.sbatch").write_text(
        "#!/bin/bash\ntorchrun \\\n  --nproc_per_node=2 \\\n  train.py \\\n  --epochs 3\n"
    )
    (tmp_path / "notes.txt").write_text("torchrun train.py\n")
    found = launch_lines([tmp_path / "train.py"], [tmp_path / "train.py"])
    assert [(item.path.name, item.line, item.instead) for item in found] == [
        ("run.sbatch", 2, "horovodrun -np 2 python train.py --epochs 3")
    ]


def test_the_plan_notes_them_and_leaves_the_file(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(DDP)
    script = tmp_path / "run.sh"
    script.write_text("torchrun --nproc_per_node=2 train.py\n")
    plan = make_plan([tmp_path], Options())
    assert len(plan.notes) == 1
    assert plan.notes[0].endswith("becomes `horovodrun -np 2 python train.py`")
    assert [file.path.name for file in plan.files] == ["train.py"]


def test_a_line_beside_another_script_of_the_same_name_is_that_ones(tmp_path: Path) -> None:
    sharded = "import torch\nfrom torch.distributed.fsdp import FullyShardedDataParallel\n"
    for folder, text in (("ddp", DDP), ("fsdp", sharded + DDP + "FullyShardedDataParallel(model)\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.py").write_text(text)
        (tmp_path / folder / "run.sh").write_text("torchrun --nproc_per_node=2 train.py\n")
    (tmp_path / "README.md").write_text("torchrun --nproc_per_node=2 train.py\n")
    notes = make_plan([tmp_path], Options()).notes
    assert len(notes) == 2 and not any("fsdp" in note for note in notes)


def test_what_a_link_leads_to_outside_of_the_project_is_not_copied(tmp_path: Path) -> None:
    """A line may hold a token of whom the project is given to."""
    project = tmp_path / "project"
    (project / "jobs").mkdir(parents=True)
    (project / "train.py").write_text(DDP)
    (tmp_path / "theirs.sh").write_text("torchrun --nproc_per_node 2 train.py --token s3cret\n")
    (project / "own.sh").write_text("torchrun --nproc_per_node 4 train.py\n")
    for name in ("run.sh", "README.md", "jobs/run.sh"):
        (project / name).symlink_to(tmp_path / "theirs.sh")
    (project / "jobs" / "own.sh").symlink_to("../own.sh")
    plan = make_plan([project], Options())
    assert "s3cret" not in "".join(plan.notes) and len(plan.notes) == 2


def test_a_single_process_program_has_no_launch_lines(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\n\ntorch.ones(1, requires_grad=True).sum().backward()\n")
    (tmp_path / "run.sh").write_text("torchrun train.py\n")
    assert make_plan([tmp_path], Options()).notes == ()


COMMANDS = [
    ('os.system("torchrun --nproc_per_node=2 train.py")\n', ["horovodrun -np 2 python train.py"]),
    (
        "command = f'python -m torch.distributed.launch --nproc_per_node={gpus} train.py'\n"
        "subprocess.run(command.split(), check=True)\n",
        ["horovodrun -np {gpus} python train.py"],
    ),
    ('"""torchrun train.py"""\nos.system("ls")\n', []),
    ('print("start it by: torchrun train.py")\nos.system("ls")\n', []),
    ('command = "torchrun train.py"\nprint(command)\n', []),
    ('subprocess.run(["torchrun", "train.py"], check=True)\n', []),
]


@pytest.mark.parametrize(("text", "instead"), COMMANDS)
def test_commands_that_python_files_run_are_noted(text: str, instead: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(DDP)
    (tmp_path / "start.py").write_text(f"import os\nimport subprocess\n\n{text}")
    plan = make_plan([tmp_path], Options())
    assert [note.partition(" becomes ")[2] for note in plan.notes] == [f"`{line}`" for line in instead]


def test_what_starts_a_refused_program_stays(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(DDP + "dist.send(x, dst=1)\n")
    (tmp_path / "run.sh").write_text("torchrun train.py\n")
    plan = make_plan([tmp_path], Options())
    assert plan.programs[0].refused
    assert plan.notes == ()
