"""The calls of libraries that write files, each with the position and name of the argument for the place."""

from __future__ import annotations

# Files that persons look at, or that are asked for by rules of their own when they are read again.
SAVES = {
    "torch.save": (1, "f"),
    "torch.jit.save": (1, "f"),
    "torch.export.save": (1, "f"),
    "torch.onnx.export": (2, "f"),
    "safetensors.torch.save_file": (1, "filename"),
    "safetensors.numpy.save_file": (1, "filename"),
    "torchvision.utils.save_image": (1, "fp"),
    "numpy.save": (0, "file"),
    "numpy.savez": (0, "file"),
    "numpy.savez_compressed": (0, "file"),
    "numpy.savetxt": (0, "fname"),
    "scipy.sparse.save_npz": (0, "file"),
    "omegaconf.OmegaConf.save": (1, "f"),
    # Of pictures only those that a person looks at.
    "matplotlib.pyplot.savefig": (0, "fname"),
    **{f"plotly.io.write_{kind}": (1, "file") for kind in ("image", "html", "json")},
    **{f"imageio{version}.{name}": (0, "uri") for version in ("", ".v2") for name in ("mimsave", "mimwrite")},
}
# ... and what programs read again as often as persons look at it: all ranks may have to find it.
DATA = {
    "cv2.imwrite": (0, "filename"),
    **{
        f"imageio{version}.{name}": (0, "uri")
        for version in ("", ".v2", ".v3")
        for name in ("imwrite", "imsave")
        if (version, name) != (".v3", "imsave")
    },
    "skimage.io.imsave": (0, "fname"),
    "matplotlib.pyplot.imsave": (0, "fname"),
    **{f"torchvision.io.write_{kind}": (1, "filename") for kind in ("png", "jpeg")},
    **{f"torchvision.io.write_{kind}": (0, "filename") for kind in ("file", "video")},
    "scipy.io.savemat": (0, "file_name"),
    "scipy.io.wavfile.write": (0, "filename"),
    "soundfile.write": (0, "file"),
    "librosa.output.write_wav": (0, "path"),
    "torchaudio.save": (0, "uri"),
    "joblib.dump": (1, "filename"),
    **{f"zarr.{name}": (0, "store") for name in ("save", "save_array", "save_group")},
}
# Methods of figures, which persons look at, whatever gives the figure.
FIGURES = {"savefig": (0, "fname"), "write_image": (0, "file"), "write_html": (0, "file")}
# Methods of a table of pandas, which give a text where they are told no place.
TABLES = {
    "to_csv": (0, "path_or_buf"),
    "to_json": (0, "path_or_buf"),
    "to_hdf": (0, "path_or_buf"),
    "to_xml": (0, "path_or_buffer"),
    "to_excel": (0, "excel_writer"),
    **{f"to_{kind}": (0, "path") for kind in ("pickle", "parquet", "feather", "stata", "orc")},
    **{f"to_{kind}": (0, "buf") for kind in ("html", "latex", "markdown")},
}
# Objects that write for as long as they live.
LOGS = {
    "torch.utils.tensorboard.SummaryWriter": (0, "log_dir"),
    "wandb.init": (-1, "dir"),
    "visdom.Visdom": (-1, "env"),
}
# What is put into a file that is open; counted where a `with open(...)` around it shows which.
DUMPS = {
    "json.dump": (1, "fp"),
    "pickle.dump": (1, "file"),
    "yaml.dump": (1, "stream"),
    "yaml.safe_dump": (1, "stream"),
}
COPIES = (
    *("shutil.copyfile", "shutil.copy", "shutil.copy2", "shutil.move"),
    *("os.rename", "os.replace", "os.symlink", "os.link"),
)
OPEN = "open"  # the builtin
# Libraries', with a path and a mode as it has them.
OPENS = frozenset(("io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open"))
# Files that are more than a text, with a mode as the second argument, which is to read where none is given.
ARCHIVES = {
    "h5py.File": (0, "name"),
    "zipfile.ZipFile": (0, "file"),
    "tarfile.open": (0, "name"),
    **{f"{module}File": (0, "filename") for module in ("gzip.Gzip", "bz2.BZ2", "lzma.LZMA")},
    **{f"zarr.{name}": (0, "store") for name in ("open", "open_group", "open_array")},
}
# What gives a PIL image, whose methods mostly give another.
IMAGES = (
    "PIL.Image.",
    "keras.utils.array_to_img",
    "keras.preprocessing.image.array_to_img",
    "torchvision.transforms.functional.to_pil_image",
    "torchvision.transforms.v2.functional.to_pil_image",
    "torchvision.transforms.ToPILImage",
    "torchvision.transforms.v2.ToPILImage",
)
