"""A `SessionStore` of the Claude Agent SDK: transcripts in session files or in PostgreSQL, through `offshoot`.

    store = OffshootSessionStore("/var/lib/transcripts")                # or "postgres://ann@db.example/team"
    async for message in query(prompt="Hello", options=ClaudeAgentOptions(session_store=store)):
        print(message)

Each transcript is a session, in which each entry of the transcript is one entry. See docs/claude-sessions.md.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from claude_agent_sdk import fold_session_summary
from claude_agent_sdk.types import (
    SessionKey,
    SessionListSubkeysKey,
    SessionStore,
    SessionStoreEntry,
    SessionStoreListEntry,
    SessionSummaryEntry,
)

# The type of the entries that hold entries of a transcript.
CUSTOM_TYPE = "claude-agent-sdk"
# The last part of the name of the session that holds the summaries of a project. Other SDKs have other summaries.
SUMMARIES = "==summaries-python"
# The longest name of a session, and the longest part of it that names a project. Files have names of at most 255 bytes.
LONGEST_NAME = 240
LONGEST_PROJECT = 100
# The largest number of outdated summaries that are kept beside those of all sessions.
OUTDATED = 100
# The characters of keys that stand for themselves in a name.
PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
# How many transcripts the store remembers the uuids of.
REMEMBERED = 256
# How many transcripts can be appended to at the same time.
LOCKS = 64

Stored = tuple[str, int, str]
"""A session: its name, the time of the last change in milliseconds, and a text that differs after each change."""


class OffshootStoreError(Exception):
    """A transcript that cannot be stored or loaded."""


class OffshootSessionStore(SessionStore):
    """Transcripts in the files of a directory, or in a PostgreSQL database with the tables of `offshoot db init`."""

    def __init__(self, place: str | os.PathLike[str], program: Sequence[str] = ("offshoot",)) -> None:
        self._place = os.fspath(place)
        self._is_database = self._place.startswith(("postgres://", "postgresql://"))
        self._program = list(program)
        self._locks = [anyio.Lock() for _ in range(LOCKS)]
        self._uuids: dict[str, set[str]] = {}

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        name = _name(key)
        async with self._locks[hash(name) % LOCKS]:
            known = self._uuids.pop(name, None)
            batch: list[Any] = list(entries)
            # A known uuid means a repetition. The session is read again, because another program may have deleted it.
            if batch and (known is None or any(_uuid(entry) in known for entry in batch)):
                known = set()
                _without_repetitions(await self._read(name) or [], known)
            known = known or set()
            await self._write(name, _without_repetitions(batch, known))
            self._uuids[name] = known
            for oldest in list(self._uuids)[:-REMEMBERED]:
                del self._uuids[oldest]

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        stored = await self._read(_name(key))
        if stored is None:
            return None
        # Two programs may have appended an entry at the same time.
        return _without_repetitions(stored, set())

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        return [{"session_id": session, "mtime": mtime} for session, mtime, _ in await self._sessions(project_key)]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        name = f"{_project(project_key)}.{SUMMARIES}"
        rows = await self._read(name) or []
        kept = {row["session_id"]: row for row in rows}
        sessions = await self._sessions(project_key)
        current: list[Any] = []
        new: list[Any] = []
        summaries: list[SessionSummaryEntry] = []
        for session, mtime, version in sessions:
            row = kept.get(session)
            if row is None or row["version"] != version:
                key: SessionKey = {"project_key": project_key, "session_id": session}
                entries = await self.load(key)
                if entries is None:
                    continue
                row = {"type": "summary", "session_id": session, "version": version}
                row["data"] = fold_session_summary(None, key, entries)["data"]
                new.append(row)
            current.append(row)
            summaries.append({"session_id": session, "mtime": mtime, "data": row["data"]})
        if len(rows) > len(current) + OUTDATED:
            await self._delete(name)
            new = current
        await self._write(name, new)
        return summaries

    async def delete(self, key: SessionKey) -> None:
        name = _name(key)
        names = [name] if key.get("subpath") is not None else []
        if not names:
            names = [stored for stored, _, _ in await self._list() if stored == name or stored.startswith(f"{name}.")]
        for one in names:
            await self._delete(one)
            self._uuids.pop(one, None)

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        prefix = _name({"project_key": key["project_key"], "session_id": key["session_id"]}) + "."
        names = [name for name, _, _ in await self._list() if name.startswith(prefix)]
        return [_decode(name[len(prefix) :]) for name in names]

    async def _sessions(self, project_key: str) -> list[Stored]:
        """Returns the transcripts of a project, by their session id, without those of sub-agents."""
        prefix = f"{_project(project_key)}."
        found: list[Stored] = []
        for name, mtime, version in await self._list():
            part = name[len(prefix) :]
            if name.startswith(prefix) and "." not in part and not part.startswith("=="):
                found.append((_decode(part), mtime, version))
        return found

    async def _list(self) -> list[Stored]:
        if self._is_database:
            rows = json.loads(await self._run(["db", "list", self._place, "--json"]))
            return [(row["name"], _millis(row["changed"]), f"{row['changed']} {row['bytes']}") for row in rows]
        try:
            with os.scandir(self._place) as files:
                found = [(file.name, file.stat()) for file in files if file.name.endswith(".jsonl")]
        except FileNotFoundError:
            return []
        return [
            (name.removesuffix(".jsonl"), stat.st_mtime_ns // 1_000_000, f"{stat.st_mtime_ns} {stat.st_size}")
            for name, stat in found
        ]

    async def _write(self, name: str, entries: list[Any]) -> None:
        if not entries:
            return
        try:
            drafts = [
                json.dumps({"type": "custom", "customType": CUSTOM_TYPE, "data": entry}, allow_nan=False)
                for entry in entries
            ]
        except (TypeError, ValueError) as error:
            raise OffshootStoreError(f"an entry is no JSON: {error}") from error
        if not self._is_database:
            Path(self._place).mkdir(parents=True, exist_ok=True)
        words = ["append", "--create", self._address(name)]
        text = "".join(f"{draft}\n" for draft in drafts).encode()
        try:
            await self._run(words, text)
        except OffshootStoreError as error:
            if not re.search(" exists (already|in )", str(error)):
                raise
            # Another program created the session meanwhile. Nothing was written.
            await self._run(words, text)

    async def _read(self, name: str) -> list[Any] | None:
        address = self._address(name)
        if not self._is_database:
            try:
                return _entries(await anyio.Path(address).read_bytes(), address)
            except FileNotFoundError:
                return None
        with tempfile.TemporaryDirectory() as directory:
            copy = os.path.join(directory, "copy.jsonl")
            try:
                await self._run(["export", address, "--all", "-o", copy])
            except OffshootStoreError as error:
                if "there is no session " in str(error):
                    return None
                raise
            return _entries(await anyio.Path(copy).read_bytes(), f"session {name}")

    async def _delete(self, name: str) -> None:
        try:
            if self._is_database:
                await self._run(["db", "delete", self._address(name)])
            else:
                await anyio.Path(self._address(name)).unlink()
        except FileNotFoundError:
            pass
        except OffshootStoreError as error:
            if "there is no session " not in str(error):
                raise

    def _address(self, name: str) -> str:
        """Returns the path of a session file, or the address of a session in the database."""
        if not self._is_database:
            return os.path.join(self._place, f"{name}.jsonl")
        database, mark, parameters = self._place.partition("?")
        return f"{database.rstrip('/')}/{name}{mark}{parameters}"

    async def _run(self, words: list[str], text: bytes = b"") -> bytes:
        # A thread, because `anyio.run_process` fails if a program ends before it has read its input.
        run = functools.partial(subprocess.run, [*self._program, *words], input=text, capture_output=True)
        try:
            done = await anyio.to_thread.run_sync(run)
        except OSError as error:
            raise OffshootStoreError(f"cannot run {self._program[0]}: {error}") from error
        if done.returncode != 0:
            raise OffshootStoreError(done.stderr.decode(errors="replace").strip())
        return done.stdout


def _entries(content: bytes, place: str) -> list[Any]:
    """Returns the entries of a transcript from the lines of a session."""
    lines = content.split(b"\n")
    entries: list[Any] = []
    ids: set[str | None] = {None}
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            record = json.loads(line)
            if not isinstance(record, dict):
                raise ValueError("no object")
        except ValueError as error:
            # A line without an end is that of a program that died: its append never returned.
            if number > 1 and not line.endswith(b"}"):
                continue
            message = f"{place}: line {number} cannot be read ({error}); see `offshoot check`"
            raise OffshootStoreError(message) from error
        if number == 1:
            if record.get("type") != "session":
                raise OffshootStoreError(f"{place}: line 1 is no header of a session")
            continue
        if record.get("parentId") not in ids:
            raise OffshootStoreError(f"{place}: the entry before line {number} is missing; see `offshoot check`")
        ids.add(record.get("id"))
        if record.get("type") == "custom" and record.get("customType") == CUSTOM_TYPE:
            entries.append(record.get("data"))
    if not lines[0]:
        raise OffshootStoreError(f"{place}: line 1 is no header of a session")
    return entries


def _without_repetitions(entries: list[Any], known: set[str]) -> list[Any]:
    """Returns the entries that have no uuid, or a new one, and adds the new uuids to the known ones."""
    new = []
    for entry in entries:
        uuid = _uuid(entry)
        if uuid is None or uuid not in known:
            new.append(entry)
        if uuid is not None:
            known.add(uuid)
    return new


def _uuid(entry: Any) -> str | None:
    uuid = entry.get("uuid") if isinstance(entry, dict) else None
    return uuid if isinstance(uuid, str) and uuid else None


def _name(key: SessionKey) -> str:
    """Returns the name of the session of a transcript: project, session and path, with a dot between them."""
    parts = [_project(key["project_key"]), _encode(key["session_id"])]
    subpath = key.get("subpath")
    if subpath is not None:
        parts.append(_encode(subpath))
    name = ".".join(parts)
    if not all(parts) or len(name) > LONGEST_NAME:
        reason = f"a part is empty, or it has more than {LONGEST_NAME} bytes"
        raise OffshootStoreError(f"no session can be named {name!r}: {reason}")
    return name


def _project(project_key: str) -> str:
    """Returns the first part of a name. It is never decoded, so a long one may end with a hash."""
    part = _encode(project_key)
    if len(part) <= LONGEST_PROJECT:
        return part
    digest = hashlib.sha256(project_key.encode("utf-16-le", "surrogatepass")).hexdigest()
    return f"{part[:LONGEST_PROJECT - 34]}=={digest[:32]}"


def _encode(text: str) -> str:
    """Writes all units of UTF-16 but small letters, digits, `-` and `_` as `=`, their number and `=`.

    Some file systems ignore case.
    """
    units = text.encode("utf-16-be", "surrogatepass")
    numbers = [int.from_bytes(units[at : at + 2], "big") for at in range(0, len(units), 2)]
    return "".join(chr(number) if chr(number) in PLAIN else f"={number:x}=" for number in numbers)


def _decode(part: str) -> str:
    text = re.sub("=([0-9a-f]+)=", lambda match: chr(int(match[1], 16)), part)
    return text.encode("utf-16-be", "surrogatepass").decode("utf-16-be", "surrogatepass")


def _millis(timestamp: str) -> int:
    return round(datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp() * 1000)
