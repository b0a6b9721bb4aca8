"""Questions that lead back to themselves: every order of asking gives the same whole answer."""

from __future__ import annotations

import itertools
import random

import pytest

from hvdkit.migrate.values.memo import MAX_DEPTH, Memo

Graph = dict[str, tuple[str, ...]]  # question -> the questions that it reads; each also holds its own name


class Asker:
    """Answers a graph's questions: everything that can be reached from each."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.memo: Memo[str] = Memo()
        self.computed = 0

    def ask(self, key: str) -> frozenset[str]:
        return self.memo.ask(key, lambda: self._compute(key))

    def _compute(self, key: str) -> frozenset[str]:
        self.computed += 1
        return frozenset([key]).union(*(self.ask(other) for other in self.graph[key]))


def reachable(graph: Graph, start: str) -> frozenset[str]:
    found, waiting = {start}, [start]
    while waiting:
        new = set(graph[waiting.pop()]) - found
        found |= new
        waiting += new
    return frozenset(found)


GRAPHS: dict[str, Graph] = {
    "a chain": {"a": ("b",), "b": ("c",), "c": ()},
    "itself": {"a": ("a",)},
    "a circle": {"a": ("b",), "b": ("c",), "c": ("a",)},
    "a circle with a tail": {"a": ("b",), "b": ("a", "c"), "c": ("d",), "d": ()},
    "two circles that share a question": {
        "a": ("b", "c"),
        "b": ("a",),
        "c": ("d",),
        "d": ("a", "e"),
        "e": (),
    },
    "a circle behind a circle": {"a": ("b",), "b": ("a", "c"), "c": ("d",), "d": ("c",)},
}


@pytest.mark.parametrize("name", GRAPHS)
def test_every_order_of_asking_gives_what_can_be_reached(name: str) -> None:
    graph = GRAPHS[name]
    for order in itertools.permutations(graph):
        asker = Asker(graph)
        for key in order:
            assert asker.ask(key) == reachable(graph, key)


def test_random_graphs() -> None:
    draw = random.Random(1)
    for _ in range(200):
        keys = [str(number) for number in range(draw.randrange(1, 12))]
        graph = {key: tuple(draw.choices(keys, k=draw.randrange(4))) for key in keys}
        asker = Asker(graph)
        for key in draw.sample(keys, len(keys)):
            assert asker.ask(key) == reachable(graph, key)


def test_a_chain_deeper_than_the_stack_is_followed_to_its_end() -> None:
    length = 20 * MAX_DEPTH
    graph: Graph = {str(n): (str(n + 1),) if n < length else () for n in range(length + 1)}
    assert len(Asker(graph).ask("0")) == length + 1


def test_a_knot_is_not_walked_once_for_every_way_through_it() -> None:
    keys = [str(number) for number in range(30)]
    asker = Asker({key: tuple(keys) for key in keys})
    assert asker.ask("0") == frozenset(keys)
    assert asker.computed < 30 * 30


def test_otherwise_waits_until_nothing_can_be_found() -> None:
    memo: Memo[str] = Memo()

    def first() -> frozenset[str]:
        return memo.otherwise(memo.ask("second", second), lambda: frozenset(["unknown"]))

    def second() -> frozenset[str]:
        return memo.ask("first", first) | memo.ask("third", lambda: frozenset(["found"]))

    assert memo.ask("first", first) == {"found"}
    alone: Memo[str] = Memo()
    assert alone.ask("x", lambda: alone.otherwise(alone.ask("x", frozenset), lambda: frozenset("?"))) == {"?"}


def test_what_reads_many_that_grow_waits_for_all_of_them() -> None:
    # f0 reads f1 reads f2 ... reads the reader, which reads them all: `state = convert(state)` in 40 files.
    chain = [*(f"f{i}" for i in range(40)), "reader"]
    graph: Graph = {key: (below,) for key, below in zip(chain, chain[1:])}
    graph["reader"] = tuple(chain[:-1])
    asker = Asker(graph)
    assert asker.ask("f0") == frozenset(chain)
    # Each once, once more with what the reader found, and the reader a last time.
    assert asker.computed <= 2 * len(chain) + 1


def test_what_grew_outside_the_answers_is_read_again() -> None:
    memo: Memo[str] = Memo()
    table: set[str] = set()

    def read() -> frozenset[str]:
        seen = frozenset(table)
        memo.ask("fill", fill)
        return seen

    def fill() -> frozenset[str]:
        memo.ask("read", read)
        table.add("late")
        memo.grown("read")
        return frozenset()

    assert memo.ask("read", read) == {"late"}
    memo.grown("read")  # answered: too late to matter, and no error
    assert memo.ask("read", read) == {"late"}


def test_an_error_leaves_nothing_half_answered() -> None:
    memo: Memo[str] = Memo()

    def breaks() -> frozenset[str]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        memo.ask("a", lambda: memo.ask("b", breaks))
    assert memo.ask("a", lambda: memo.ask("b", lambda: frozenset(["b"]))) == {"b"}
