from __future__ import annotations

from pathlib import Path

import pytest

from hvdkit.install import cache

KEY = "0123456789abcdef"


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    file = tmp_path / "horovod-0.28.1-cp311-cp311-linux_x86_64.whl"
    file.write_bytes(b"compiled")
    return file


def test_where_it_is() -> None:
    home = Path.home()
    assert cache.root({}) == home / ".cache" / "hvdkit"
    assert cache.root({"XDG_CACHE_HOME": "/var/cache"}) == Path("/var/cache/hvdkit")
    assert cache.root({"XDG_CACHE_HOME": "/var/cache", "HVDKIT_CACHE": "/scratch"}) == Path("/scratch")


def test_what_was_put_is_found(tmp_path: Path, wheel: Path) -> None:
    store = tmp_path / "store"
    put = cache.put(store, KEY, wheel, {"horovod": "0.28.1"})
    assert cache.find(store, KEY) == put
    assert put.wheel.name == wheel.name
    assert put.wheel.read_bytes() == b"compiled"
    assert cache.find(store, "another key") is None


def test_a_second_put_replaces_and_leaves_nothing_beside(tmp_path: Path, wheel: Path) -> None:
    store = tmp_path / "store"
    cache.put(store, KEY, wheel, {})
    wheel.write_bytes(b"compiled again")
    assert cache.put(store, KEY, wheel, {}).wheel.read_bytes() == b"compiled again"
    assert [file.name for file in (store / "wheels").iterdir()] == [KEY]


@pytest.mark.parametrize("harm", ["truncated wheel", "no wheel", "no record", "half a record"])
def test_a_damaged_entry_is_not_used_and_named(tmp_path: Path, wheel: Path, harm: str) -> None:
    store = tmp_path / "store"
    entry = cache.put(store, KEY, wheel, {})
    record = entry.wheel.parent / "build.json"
    if harm == "truncated wheel":
        entry.wheel.write_bytes(b"comp")
    elif harm == "no wheel":
        entry.wheel.unlink()
    elif harm == "no record":
        record.unlink()
    else:
        record.write_text(record.read_text()[:20])
    assert cache.find(store, KEY) is None
    assert str(store) in cache.damage(store, KEY)
    cache.put(store, KEY, wheel, {})
    assert cache.damage(store, KEY) == ""


def test_an_interrupted_put_leaves_no_entry(
    tmp_path: Path, wheel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_file: Path) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(cache, "digest", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cache.put(tmp_path / "store", KEY, wheel, {})
    assert list((tmp_path / "store" / "wheels").iterdir()) == []


def test_a_copy_for_other_nodes(tmp_path: Path, wheel: Path) -> None:
    entry = cache.put(tmp_path / "store", KEY, wheel, {})
    copy = cache.copy_wheel(entry, tmp_path / "wheels")
    assert copy.read_bytes() == b"compiled"
    assert list(copy.parent.iterdir()) == [copy]


def test_what_was_dropped_is_not_found_and_may_be_dropped_again(tmp_path: Path, wheel: Path) -> None:
    store = tmp_path / "store"
    cache.put(store, KEY, wheel, {})
    for _ in range(2):
        cache.drop(store, KEY)
        assert cache.find(store, KEY) is None
