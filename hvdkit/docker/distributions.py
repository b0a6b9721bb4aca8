"""Which distribution installs a module: a table of well-known ones, else what is installed beside hvdkit.

A module that neither knows is not looked for under its own name: anybody may have put a package there.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata

_OTHER_NAMES = {
    "PIL": "pillow",
    "absl": "absl-py",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",  # the other one needs a display's libraries
    "dateutil": "python-dateutil",
    "faiss": "faiss-cpu",
    "git": "gitpython",
    "hydra": "hydra-core",
    "pytorch_lightning": "pytorch-lightning",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "tensorflow_datasets": "tensorflow-datasets",
    "umap": "umap-learn",
    "yaml": "pyyaml",
}
_SAME_NAMES = frozenset(
    # One string: a list would take a line for each.
    """
    accelerate albumentations datasets diffusers einops fire fsspec ftfy gymnasium h5py imageio
    joblib kornia librosa lightgbm lmdb loguru matplotlib mlflow monai mpi4py nibabel nltk numba
    numpy omegaconf pandas peft plotly polars psutil pyarrow pycocotools pydantic pydicom regex
    requests rich safetensors scipy seaborn sentencepiece soundfile spacy sympy tabulate tensorboard
    termcolor timm tokenizers torchaudio torchmetrics torchvision tqdm transformers wandb webdataset
    xgboost zarr
    """.split()  # noqa: SIM905
)


def distribution_of(module: str) -> str | None:
    """The distribution that installs a top-level module; None where it is not known."""
    if module in _SAME_NAMES:
        return module
    return _OTHER_NAMES.get(module) or _installed().get(module)


@cache
def _installed() -> dict[str, str]:
    """Modules of this environment that exactly one distribution installs."""
    if not hasattr(metadata, "packages_distributions"):  # Python 3.9
        return {}
    found = metadata.packages_distributions().items()  # novm
    return {module: names[0] for module, names in found if len(set(names)) == 1}
