"""The words of the tables: what a call of a library does to what a program remembers."""

from __future__ import annotations

from typing import NamedTuple, Union


class Draws(NamedTuple):
    """Draws from a random state. orders: whether it gives an order, or a choice of samples.

    splits: whether it divides data in parts, as for training and validation. own: the argument that has its
    own state. shuffles: whether it reorders its first argument in place.
    """

    state: str
    orders: bool = False
    splits: bool = False
    own: str = ""
    shuffles: bool = False


class Fills(NamedTuple):
    """Draws new weights in the place of its first argument."""


class Seeds(NamedTuple):
    """Sets random states by an argument."""

    states: tuple[str, ...]
    place: int = 0
    name: str = "seed"


class Makes(NamedTuple):
    """Makes an object: "layer", "parts", "loader", "sampler", "optimizer", "scheduler", "state".

    state: what the weights of a layer are drawn from.
    """

    kind: str
    state: str = "torch"


class Asks(NamedTuple):
    """Asks for a number of the process or the job: "rank", "size", ..."""

    what: str


class Differs(NamedTuple):
    """Gives something else in each process: the time, a new folder. by_host: something else on each host."""

    what: str
    by_host: bool = False


class Writes(NamedTuple):
    """Writes the file that an argument names. mode: the place of an argument that says whether it does."""

    place: int
    name: str
    mode: int = -1


class WritesNamed(NamedTuple):
    """Writes each file that a dictionary, at any place in its first argument, has under this key."""

    key: str


class Sends(NamedTuple):
    """A collective. gives: "agreed", the same on all ranks; "root", what the root has; "own"; "nothing".

    weights: whether its first argument is a model's weights. in_place: whether that is what changes.
    """

    gives: str
    in_place: bool = False
    weights: bool = False


class Reads(NamedTuple):
    """Gives what is in the file that its first argument names, wherever it is put."""


class Wraps(NamedTuple):
    """Gives an argument back, for what is asked here.

    copies: of a container what it holds now. averages: whether it averages gradients from now on.
    """

    place: int = 0
    name: str = ""
    copies: bool = False
    averages: bool = False


class Cuts(NamedTuple):
    """Cuts its first argument into as many pieces as the second one says."""


class Compiles(NamedTuple):
    """Compiles a function, which may be given later. option: the argument by which XLA does it."""

    name: str
    option: str


class Pure(NamedTuple):
    """Gives a term of its arguments, and never fails.

    place: it takes only a place or a shape of its arguments, and what it gives is the same for all of them.
    """

    place: bool = False


class Computes(NamedTuple):
    """Computes a number, a text or a truth of its arguments, and does nothing else."""


class Ends(NamedTuple):
    """Ends the process."""


class Runs(NamedTuple):
    """Calls its first argument. ranks: with the number of the process in front."""

    ranks: bool = False


class Joins(NamedTuple):
    """Joins the ranks to a job. numbers: the parameters that give it a number of the process.

    sets: the attributes of its first argument that it puts such numbers into.
    """

    numbers: dict[str, str]
    sets: dict[str, str]


class OnFirst(NamedTuple):
    """A decorator: rank 0 alone runs the function."""


Effect = Union[
    Draws,
    Fills,
    Seeds,
    Makes,
    Asks,
    Differs,
    Writes,
    WritesNamed,
    Sends,
    Reads,
    Wraps,
    Cuts,
    Compiles,
    Pure,
    Computes,
    Ends,
    Runs,
    Joins,
    OnFirst,
]
