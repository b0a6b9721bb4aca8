"""NumPy and scikit-learn: https://numpy.org/doc/stable/reference/, https://scikit-learn.org/stable/api/."""

from __future__ import annotations

from hvdkit.library.effects import Cuts, Draws, Effect, Makes, Seeds, Wraps, Writes

CALLS: dict[str, Effect] = {
    # https://numpy.org/doc/stable/reference/random/legacy.html
    "numpy.random.seed": Seeds(("numpy",)),
    "numpy.random.permutation": Draws("numpy", orders=True),
    "numpy.random.shuffle": Draws("numpy", orders=True, shuffles=True),
    "numpy.random.choice": Draws("numpy", orders=True),
    "numpy.random.rand": Draws("numpy"),
    "numpy.random.randn": Draws("numpy"),
    "numpy.random.random": Draws("numpy"),
    "numpy.random.randint": Draws("numpy"),
    "numpy.random.uniform": Draws("numpy"),
    "numpy.random.normal": Draws("numpy"),
    "numpy.random.RandomState": Makes("state"),
    "numpy.random.default_rng": Makes("state"),
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
    # https://scikit-learn.org/stable/api/sklearn.model_selection.html
    "sklearn.model_selection.train_test_split": Draws("numpy", orders=True, splits=True, own="random_state"),
    # https://matplotlib.org/stable/api/pyplot_summary.html
    "matplotlib.pyplot.savefig": Writes(0, "fname"),
}
