from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hvdkit.install import plan, report
from hvdkit.install.cuda import Cuda
from hvdkit.install.errors import CudaError
from hvdkit.install.system import Mpi
from tests.install import plans

SYSTEM = plans.SYSTEM
assert SYSTEM.mpi is not None
OTHERS = {
    "torch version": plans.make((replace(plans.TORCH, version="2.12.1"),)),
    "torch ABI": plans.make((replace(plans.TORCH, flags=("-D_GLIBCXX_USE_CXX11_ABI=0",)),)),
    "one framework more": plans.make((plans.TORCH, plans.TENSORFLOW)),
    "another framework": plans.make((plans.TENSORFLOW,)),
    "C++ standard": plans.make(cpp=17),
    "compiler": plans.make(system=replace(SYSTEM, compiler_version="g++ 13.2.0")),
    "standard library": plans.make(system=replace(SYSTEM, libstdcxx=13)),
    "processor": plans.make(system=replace(SYSTEM, cpu_flags=())),
    "platform": plans.make(system=replace(SYSTEM, platform="linux-x86_64 glibc 2.31")),
    "no MPI": plans.make(system=replace(SYSTEM, mpi=None)),
    "MPI version": plans.make(system=replace(SYSTEM, mpi=Mpi("mpirun (Open MPI) 5.0.3", SYSTEM.mpi.show))),
    "MPI folder": plans.make(system=replace(SYSTEM, mpi=Mpi(SYSTEM.mpi.version, "g++ -I/opt/mpi/include"))),
    "CUDA": plans.make(cuda=plans.CUDA),
    "CUDA version": plans.make(cuda=replace(plans.CUDA, version="12.8")),
    "NCCL version": plans.make(cuda=replace(plans.CUDA, nccl_version="2.26.2")),
    "GPU": plans.make(cuda=replace(plans.CUDA, gpus=("90",))),
    "compiler flags": plans.make(environment={"CXXFLAGS": "-O1"}),
    "CPU operations": plans.make(environment={"HOROVOD_CPU_OPERATIONS": "MPI"}),
}


def test_every_ingredient_changes_the_key() -> None:
    keys = {name: made.key for name, made in {"as it is": plans.make(), **OTHERS}.items()}
    assert len(set(keys.values())) == len(keys), keys


@pytest.mark.parametrize("name", ["horovod", "python"])
def test_horovod_and_python_are_in_the_key(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    before = plans.make().key
    if name == "horovod":
        monkeypatch.setattr(plan, "HOROVOD_VERSION", "0.29.0")
    else:
        monkeypatch.setattr("sysconfig.get_config_var", lambda _name: "cpython-313-x86_64-linux-gnu")
    assert plans.make().key != before


def test_what_changes_nothing_keeps_the_key() -> None:
    again = plans.make(environment={"HOROVOD_RANK": "1", "MAKEFLAGS": "-j1", "PATH": "/elsewhere"})
    assert again.key == plans.make().key
    assert plans.make(system=replace(SYSTEM, cmake_version="cmake version 4.0.0")).key == plans.make().key


def test_the_ingredients_are_json() -> None:
    assert json.loads(json.dumps(plans.make(cuda=plans.CUDA).ingredients()))["cuda"] == ["13.0", "2.27.3"]


def test_every_part_is_asked_for_or_ruled_out() -> None:
    without = plans.make(system=replace(SYSTEM, mpi=None)).variables
    assert {name: value for name, value in without.items() if name.startswith("HOROVOD_WITH")} == {
        "HOROVOD_WITHOUT_MPI": "1",
        "HOROVOD_WITHOUT_MXNET": "1",
        "HOROVOD_WITHOUT_TENSORFLOW": "1",
        "HOROVOD_WITH_GLOO": "1",
        "HOROVOD_WITH_PYTORCH": "1",
    }


def test_gpu_operations_come_with_cuda() -> None:
    chosen = plans.make(cuda=plans.CUDA).variables
    assert chosen["HOROVOD_GPU_OPERATIONS"] == "NCCL"
    assert chosen["HOROVOD_BUILD_CUDA_CC_LIST"] == "80,90"
    assert "HOROVOD_GPU_OPERATIONS" not in plans.make().variables


def test_a_persons_own_setting_wins() -> None:
    assert (
        plans.make(environment={"HOROVOD_BUILD_ARCH_FLAGS": "-mavx"}).variables["HOROVOD_BUILD_ARCH_FLAGS"]
        == "-mavx"
    )


NO_GPU = "no framework here computes with CUDA, or there is no CUDA toolkit: Horovod is built for the CPU"
NCCL = "all GPU operations use NCCL, the fastest, and are tested with it"
INSTALLED = "Horovod is built for exactly the frameworks that are installed here"


@pytest.mark.parametrize(
    ("setting", "cuda", "reason"),
    [
        ("HOROVOD_GPU_OPERATIONS=NCCL", None, NO_GPU),
        ("HOROVOD_GPU_OPERATIONS=MPI", plans.CUDA, NCCL),
        ("HOROVOD_GPU_ALLREDUCE=MPI", plans.CUDA, NCCL),
        ("HOROVOD_CUDA_HOME=/nope", None, NO_GPU),
        ("HOROVOD_CUDA_HOME=/nope", plans.CUDA, "there is no bin/nvcc in it"),
        ("HOROVOD_WITH_TENSORFLOW=1", None, INSTALLED),
        ("HOROVOD_WITHOUT_PYTORCH=1", None, INSTALLED),
        ("HOROVOD_WITHOUT_MPI=yes", None, "only the value 1 excludes MPI"),
        (
            "HOROVOD_WITHOUT_GLOO=1",
            None,
            "Gloo is always built: `hvdkit run` uses it where there is no MPI",
        ),
    ],
)
def test_what_is_set_and_not_followed_is_named(setting: str, cuda: Cuda | None, reason: str) -> None:
    name, _, value = setting.partition("=")
    made = plans.make(cuda=cuda, environment={name: value})
    assert made.ignored == {setting: reason}
    assert f"  {setting}: {reason}" in report.dry_run(made, Path("/nowhere")).splitlines()


@pytest.mark.parametrize(
    ("setting", "near"),
    [
        ("HOROVOD_WITH_TORCH=1", "HOROVOD_WITH_PYTORCH"),
        ("HOROVOD_FUSION_TRESHOLD=0", "HOROVOD_FUSION_THRESHOLD"),
        ("HOROVOD_GPU_ALL_REDUCE=NCCL", "HOROVOD_GPU_ALLREDUCE"),
    ],
)
def test_a_variable_that_horovod_does_not_have_is_named(setting: str, near: str) -> None:
    name, _, value = setting.partition("=")
    made = plans.make(environment={name: value})
    assert made.ignored == {setting: f"Horovod 0.28.1 has no such variable; did you mean {near}?"}


@pytest.mark.parametrize("text", ["80,90", "80;90", "8.0;9.0", " 8.0 9.0 ", "80, 90"])
def test_compute_capabilities_as_people_write_them(text: str) -> None:
    made = plans.make(cuda=plans.CUDA, environment={"HOROVOD_BUILD_CUDA_CC_LIST": text})
    assert made.variables["HOROVOD_BUILD_CUDA_CC_LIST"] == "80,90"


@pytest.mark.parametrize("text", ["ampere", ";", "80:90"])
def test_what_is_no_compute_capability(text: str) -> None:
    with pytest.raises(CudaError, match="names no compute capabilities"):
        plans.make(cuda=plans.CUDA, environment={"HOROVOD_BUILD_CUDA_CC_LIST": text})


@pytest.mark.parametrize(
    "setting",
    [
        "HOROVOD_GPU_OPERATIONS=NCCL",
        "HOROVOD_CUDA_HOME=/usr/local/cuda/",
        "HOROVOD_WITH_PYTORCH=1",
        "HOROVOD_WITH_MPI=1",
        "HOROVOD_CPU_OPERATIONS=MPI",
        "HOROVOD_FUSION_THRESHOLD=0",
        "HOROVOD_DEBUG=",
    ],
)
def test_what_is_followed_or_concerns_a_job_is_not(setting: str) -> None:
    name, _, value = setting.partition("=")
    made = plans.make(cuda=plans.CUDA, environment={name: value})
    assert made.ignored == {}
    assert "not followed" not in report.dry_run(made, Path("/nowhere"))


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ({}, ()),
        ({"setuptools": "81.0.0"}, ("setuptools<81",)),
        ({"setuptools": None, "psutil": None}, ("psutil", "setuptools<81")),
    ],
)
def test_requirements(
    monkeypatch: pytest.MonkeyPatch, versions: dict[str, str | None], expected: tuple[str, ...]
) -> None:
    monkeypatch.setattr(plan, "_version", lambda name: versions.get(name, "80.0.0"))
    assert plan.missing_requirements() == expected
