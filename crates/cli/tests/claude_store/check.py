"""Checks the store in Python: the contracts of the SDK, and those of this store.

Usage: check.py PROGRAM PLACE ENTRIES; PLACE is a directory or an empty database. Leaves there a transcript for other programs.
"""

import itertools
import json
import os
import shutil
import subprocess
import sys

import anyio
from claude_agent_sdk.testing import run_session_store_conformance
from claude_agent_sdk.types import SessionStore

from offshoot_session_store import OffshootSessionStore, OffshootStoreError

PROGRAM, PLACE, ENTRIES = sys.argv[1:]
IS_DATABASE = PLACE.startswith("postgres://")
KEY = {"project_key": "-Users-Ann/p", "session_id": "S1"}
OPTIONAL = ["list_sessions", "list_session_summaries", "delete", "list_subkeys"]
made = itertools.count()


def store(place=PLACE):
    return OffshootSessionStore(place, [PROGRAM])


def empty_store():
    """Returns a store without transcripts."""
    if not IS_DATABASE:
        return store(os.path.join(PLACE, f"new-{next(made)}"))
    listed = subprocess.run([PROGRAM, "db", "list", PLACE, "--json"], check=True, capture_output=True)
    database, _, parameters = PLACE.partition("?")
    for row in json.loads(listed.stdout):
        subprocess.run([PROGRAM, "db", "delete", f"{database}/{row['name']}?{parameters}"], check=True, capture_output=True)
    return store()


async def fails(call, *texts):
    try:
        await call
    except OffshootStoreError as error:
        assert all(text in str(error) for text in texts), error
    else:
        raise AssertionError(f"no error with {texts}")


async def check_uuids():
    one = empty_store()
    entries = [{"type": "x", "uuid": "a"}, {"type": "t"}, {"type": "x", "uuid": "a"}, {"type": "x", "uuid": "b"}]
    expected = [entries[0], entries[1], entries[3]]
    await one.append(KEY, entries)
    assert await one.load(KEY) == expected
    # A repetition, also in another program; entries without a uuid are appended again.
    await one.append(KEY, entries)
    other = store(one._place)
    await other.append(KEY, entries)
    assert await other.load(KEY) == [*expected, {"type": "t"}, {"type": "t"}]
    # Another program deletes the session: nothing that is appended then counts as known.
    await other.delete(KEY)
    await one.append(KEY, entries)
    assert await one.load(KEY) == expected


async def check_keys():
    place = empty_store()
    texts = ["a", "A", "a.b", "a=b", "../a", "a/b", "ä", "\U0001f600", "\ud83d", "a\0b", " ", "==summaries", "-s", "%41", "?x#y"]
    keys = [{"project_key": text, "session_id": text, "subpath": text} for text in texts]
    keys += [{"project_key": text, "session_id": text} for text in texts]
    keys.append({"project_key": "p" * 1000 + "1", "session_id": "s"})
    keys.append({"project_key": "p" * 1000 + "2", "session_id": "s"})
    for number, key in enumerate(keys):
        await place.append(key, [{"type": "x", "number": number}])
    for number, key in enumerate(keys):
        assert await place.load(key) == [{"type": "x", "number": number}], key
    for text in texts:
        assert [row["session_id"] for row in await place.list_sessions(text)] == [text]
        assert [row["session_id"] for row in await place.list_session_summaries(text)] == [text]
        assert await place.list_subkeys({"project_key": text, "session_id": text}) == [text]
    for key in [{"project_key": "", "session_id": "s"}, {"project_key": "p", "session_id": "s", "subpath": ""}]:
        await fails(place.load(key), "a part is empty")
    await fails(place.append({"project_key": "p", "session_id": "s" * 300}, [{"type": "x"}]), "more than 240 bytes")


async def check_many_writers():
    place = empty_store()
    stores = [store(place._place) for _ in range(4)]

    async def write(writer, number):
        for step in range(5):
            await writer.append(KEY, [{"type": "x", "uuid": f"{number}-{step}"}, {"type": "x", "uuid": "all"}])

    async with anyio.create_task_group() as group:
        for number, writer in enumerate(stores):
            group.start_soon(write, writer, number)
            group.start_soon(write, writer, number)
    loaded = [entry["uuid"] for entry in await place.load(KEY)]
    assert sorted(loaded) == sorted(["all", *(f"{number}-{step}" for number in range(4) for step in range(5))])
    for number in range(4):
        mine = [uuid for uuid in loaded if uuid.startswith(f"{number}-")]
        assert mine == sorted(mine), "the entries of a writer are in order"


async def check_summaries():
    place = empty_store()
    await place.append(KEY, [{"type": "x", "customTitle": "one"}])
    for title in ["two", "three"]:
        assert len(await store(place._place).list_session_summaries(KEY["project_key"])) == 1
        await place.append(KEY, [{"type": "x", "customTitle": title}])
        for _ in range(2):
            [summary] = await place.list_session_summaries(KEY["project_key"])
            assert summary["data"]["custom_title"] == title
    # Outdated summaries are removed.
    name = next(name for name, _, _ in await place._list() if "==summaries" in name)
    await place._write(name, [{"session_id": "gone", "version": "1", "data": {}}] * 200)
    await place.list_session_summaries(KEY["project_key"])
    assert len(await place._read(name)) == 1


async def check_bad_input():
    place = empty_store()
    await fails(place.append(KEY, [{"type": "x", "n": float("nan")}]), "no JSON")
    await fails(OffshootSessionStore(place._place, ["/none/offshoot"]).append(KEY, [{"type": "x"}]), "/none/offshoot")
    assert await place.load(KEY) is None
    if IS_DATABASE:
        missing = PLACE.replace("/db", "/none")
        await fails(store(missing).load(KEY), "does not exist")
        await fails(store(missing).append(KEY, [{"type": "x"}]), "does not exist")
        return
    await place.append(KEY, [{"type": "x", "uuid": uuid} for uuid in "abc"])
    path = place._address(next(name for name, _, _ in await place._list()))
    with open(path, "rb") as file:
        lines = file.read().splitlines(keepends=True)

    async def with_lines(changed):
        with open(path, "wb") as file:
            file.write(b"".join(changed))
        return await store(place._place).load(KEY)

    assert await with_lines([*lines, b'{"type":"cus']) == [{"type": "x", "uuid": uuid} for uuid in "abc"]
    await fails(with_lines([lines[0], lines[1], lines[2].replace(b'"b"', b'"b'), lines[3]]), path, "line 3")
    await fails(with_lines([lines[0], lines[1], lines[3]]), path, "before line 3 is missing")
    await fails(with_lines([]), path, "no header")
    await fails(with_lines(lines[1:]), path, "no header")
    await fails(with_lines([b"hello\n"]), path, "line 1")
    await fails(place.append(KEY, [{"type": "x"}]), path)
    file = os.path.join(PLACE, "file")
    with open(file, "wb"):
        pass
    for call in [store(file).load(KEY), store(file).list_sessions("p")]:
        try:
            await call
        except OSError as error:
            assert "file" in str(error)
        else:
            raise AssertionError("a file is no directory")


async def main():
    with open(ENTRIES) as file:
        entries = json.load(file)
    assert all(getattr(OffshootSessionStore, name) is not getattr(SessionStore, name) for name in OPTIONAL)
    await run_session_store_conformance(empty_store, skip_optional=frozenset())
    for check in [check_uuids, check_keys, check_many_writers, check_summaries, check_bad_input]:
        await check()
    if not IS_DATABASE:
        for name in os.listdir(PLACE):
            path = os.path.join(PLACE, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    empty_store()
    await store().append({**KEY, "subpath": "subagents/agent-1"}, entries)
    await store().append(KEY, entries)
    assert await store().load(KEY) == entries
    await store().list_session_summaries(KEY["project_key"])
    print("all contracts hold")


anyio.run(main)
