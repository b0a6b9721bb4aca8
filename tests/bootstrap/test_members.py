"""Ranks that come together: who is missing, comes twice, or disagrees; and the plan of those who agree."""

from __future__ import annotations

import pytest

from hvdkit.bootstrap.errors import MeetingError
from hvdkit.bootstrap.members import Member, Members, as_messages, plan
from hvdkit.bootstrap.messages import MalformedError, Message


def member(rank: int, host: str = "a", size: int = 4, pid: int = 1, machine: str = "") -> Member:
    return Member(rank, size, "WORLD_SIZE", host, machine or f"boot/net/{host}", pid)


def join(members: Members, who: Member) -> Message:
    return members.answer({"say": "join", "member": vars(who)}, "10.0.0.1")


def test_all_get_their_slot_once_all_are_there() -> None:
    members = Members(2)
    assert join(members, member(1, size=2)) == {"slot": None}
    assert members.missing() == [0]
    join(members, member(0, size=2))
    assert members.missing() == []
    members.plan = as_messages(plan(members.came))
    assert join(members, member(1, size=2))["slot"]["local_rank"] == 1


def test_another_world_size_is_told_to_all() -> None:
    members = Members(4)
    join(members, member(1))
    reply = join(members, member(2, "b", size=2))
    assert reply["error"]["seen"] == "rank 2 (process 1 on b) has WORLD_SIZE=2, rank 0 has 4"
    assert join(members, member(1)) == reply


def test_a_second_process_of_a_rank_is_turned_away() -> None:
    members = Members(4)
    join(members, member(1))
    reply = join(members, member(1, "b", pid=9))
    assert reply["error"]["seen"] == (
        "process 9 on b has rank 1, which is already connected: rank 1 (process 1 on a)"
    )
    assert join(members, member(1)) == {"slot": None}, "the first one is not disturbed"
    assert "rejected: rank 1 (process 9 on b)" in members.absent(5).seen


def test_who_did_not_come_is_named() -> None:
    members = Members(4, "a,b")
    join(members, member(0))
    join(members, member(1))
    assert members.absent(120).seen == (
        "of 4 ranks, ranks 2, 3 did not connect within 120 s (nodes: a,b); connected: a: ranks 0, 1"
    )


def test_local_and_cross_ranks_come_from_the_hosts() -> None:
    came = [member(0, "a"), member(1, "a"), member(2, "b"), member(3, "b")]
    slots = plan(dict(enumerate(came)))
    assert [(each.hostname, each.local_rank, each.local_size) for each in slots] == [
        ("a", 0, 2),
        ("a", 1, 2),
        ("b", 0, 2),
        ("b", 1, 2),
    ]
    assert [(each.cross_rank, each.cross_size) for each in slots] == [(0, 2), (0, 2), (1, 2), (1, 2)]


def test_uneven_hosts() -> None:
    slots = plan({0: member(0, "a", 3), 1: member(1, "a", 3), 2: member(2, "b", 3)})
    assert [(each.local_size, each.cross_rank, each.cross_size) for each in slots] == [
        (2, 0, 2),
        (2, 0, 1),
        (1, 1, 2),
    ]


def test_hosts_of_the_same_name_are_told_apart() -> None:
    twins = {
        0: member(0, "node", 2, machine="boot1/net/node"),
        1: member(1, "node", 2, machine="boot2/net/node"),
    }
    assert [each.hostname for each in plan(twins)] == ["node", "node-2"]


def test_ranks_that_are_dealt_out_in_turn_are_refused() -> None:
    dealt = [member(0, "a"), member(1, "b"), member(2, "a"), member(3, "b")]
    with pytest.raises(
        MeetingError, match=r"rank 2 \(process 1 on a\) is not on the host of rank 1"
    ) as caught:
        plan(dict(enumerate(dealt)))
    assert "--distribution=block" in caught.value.fix


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"say": "stop", "member": vars(member(1))},
        {"say": "join", "member": vars(member(1)), "more": 1},
        {"say": "join", "member": [1]},
        *({"say": "join", "member": {**vars(member(1)), "rank": rank}} for rank in (-1, 4, 999, True, "1")),
        *({"say": "join", "member": {**vars(member(1)), "size": size}} for size in (0, 1 << 40, None)),
        *(
            {"say": "join", "member": {**vars(member(1)), "host": host}}
            for host in (None, "a\nb", "x" * 5000)
        ),
        {"say": "join", "member": {**vars(member(1)), "pid": -1}},
        {"say": "join", "member": {**vars(member(1)), "colour": "red"}},
    ],
    ids=repr,
)
def test_what_no_rank_says_is_refused_and_changes_nothing(wrong: Message) -> None:
    members = Members(4)
    with pytest.raises(MalformedError):
        members.answer(wrong, "10.0.0.9")
    assert not members.came and members.error is None
