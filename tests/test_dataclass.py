"""hvdkit's dataclass is the standard library's, whenever it is first used."""

from __future__ import annotations

import dataclasses
from typing import Callable

import pytest

from hvdkit.dataclass import dataclass


@dataclass
class Counted:
    """With a default that every instance makes anew."""

    seen: list[int] = dataclasses.field(default_factory=list)


def made() -> tuple[type, type]:
    """A frozen class and one that inherits from it, of which nothing has been asked."""

    @dataclass(frozen=True)
    class Point:
        x: int
        y: int = 0

    @dataclass(frozen=True, order=True)
    class Named(Point):
        name: str = ""

    return Point, Named


def test_a_class_has_no_methods_before_its_first_instance() -> None:
    point, _ = made()
    assert "__eq__" not in vars(point)
    point(1)
    assert "__eq__" in vars(point)


def test_instances_are_equal_hashed_shown_and_replaced_by_their_fields() -> None:
    point, _ = made()
    assert point(1) == point(1, 0) != point(2)
    assert len({point(1), point(1), point(2)}) == 2
    assert repr(point(1)).endswith("Point(x=1, y=0)")
    assert dataclasses.replace(point(1), y=5) == point(1, 5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        point(1).x = 2


@pytest.mark.parametrize("first", [0, 1])
def test_a_class_that_inherits_has_all_fields_whichever_is_made_first(first: int) -> None:
    classes = made()
    classes[first](1)
    point, named = classes
    assert named(1, 2, "a") == named(x=1, y=2, name="a") < named(1, 2, "b")
    assert point(1) == point(1)


def test_a_plain_class_that_inherits_makes_instances() -> None:
    point, _ = made()
    plain = type("Plain", (point,), {})
    assert plain(1).x == 1
    assert plain(1) == plain(1) != point(1)


ASKED: list[Callable[[type], list[str]]] = [
    lambda cls: [field.name for field in dataclasses.fields(cls)],
    lambda cls: [*cls.__dataclass_fields__],
]


@pytest.mark.parametrize("ask", ASKED)
def test_fields_are_known_before_the_first_instance(ask: Callable[[type], list[str]]) -> None:
    point, named = made()
    assert ask(named) == ["x", "y", "name"]
    assert dataclasses.is_dataclass(point)


def test_without_options_it_is_a_plain_decorator() -> None:
    one, other = Counted(), Counted()
    one.seen.append(1)
    assert (one.seen, other.seen) == ([1], [])
