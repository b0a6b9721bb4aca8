"""NumPy and scikit-learn: https://numpy.org/doc/stable/reference/, https://scikit-learn.org/stable/api/."""

from __future__ import annotations

from hvdkit.library.effects import Cuts, Draws, Effect, Makes, Pure, Seeds, Wraps, Writes

CALLS: dict[str, Effect] = {
    # https://numpy.org/doc/stable/reference/random/legacy.html
    "numpy.random.seed": Seeds(("numpy",)),
    "numpy.random.permutation": Draws("numpy", orders=True),
    "numpy.random.shuffle": Draws("numpy", orders=True, shuffles=True),
    "numpy.random.choice": Draws("numpy", orders=True),
    # Functions of the module that draw nothing.
    "numpy.random.get_state": Pure(),
    "numpy.random.set_state": Pure(),
    "numpy.random.RandomState": Makes("state"),
    "numpy.random.default_rng": Makes("state"),
    # https://numpy.org/doc/stable/reference/random/bit_generators/index.html
    **{
        f"numpy.random.{name}": Makes("state")
        for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence")
    },
    "numpy.random.Generator": Wraps(0, "bit_generator"),
    # https://numpy.org/doc/stable/reference/routines.io.html
    "numpy.array": Wraps(0, "object", copies=True),
    "numpy.asarray": Wraps(0, "a", copies=True),
    # https://numpy.org/doc/stable/reference/routines.array-manipulation.html
    "numpy.array_split": Cuts(),
    "numpy.split": Cuts(),
    "numpy.save": Writes(0, "file"),
    "numpy.savez": Writes(0, "file"),
    "numpy.savez_compressed": Writes(0, "file"),
    "numpy.savetxt": Writes(0, "fname"),
    "numpy.memmap": Writes(0, "filename", mode=2),
    # https://scikit-learn.org/stable/api/sklearn.model_selection.html
    "sklearn.model_selection.train_test_split": Draws("numpy", orders=True, splits=True, own="random_state"),
    # https://matplotlib.org/stable/api/pyplot_summary.html
    "matplotlib.pyplot.savefig": Writes(0, "fname"),
}

# What the functions of a module do that have no line of their own.
MODULES: dict[str, Effect] = {"numpy.random": Draws("numpy")}
