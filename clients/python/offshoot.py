"""A client of `offshoot --mode rpc`: commands in, answers and events out. Standard library only.

    with Offshoot(["offshoot"], session="work") as agent:
        for row in agent.tree():
            print(row["text"])
        agent.navigate("branch:2")
        agent.prompt("Try it with a mutex")

Commands that have no method of their own run with `call`, for instance `agent.call("diff", a="@one", b="@two")`.
The protocol is described in docs/rpc.md; `offshoot schema rpc` prints its JSON Schema.
"""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypedDict

Json = dict[str, Any]


class Row(TypedDict, total=False):
    """An entry of the tree in one line."""

    id: str
    parentId: str | None
    type: str
    depth: int
    text: str
    isLeaf: bool


class Navigated(TypedDict, total=False):
    """The result of a move of the leaf."""

    cancelled: bool
    aborted: bool
    editorText: str
    leafId: str | None


class OffshootError(Exception):
    """The error of a command, or the end of the program."""


class Offshoot:
    """A running program and its session."""

    def __init__(
        self,
        program: Sequence[str] = ("offshoot",),
        session: str | None = None,
        args: Sequence[str] = (),
        on_event: Callable[[Json], None] | None = None,
        timeout: float = 60.0,
    ) -> None:
        chosen = [] if session is None else ["--session", session]
        self._process = subprocess.Popen(
            [*program, "--mode", "rpc", *chosen, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._on_event = on_event
        self._timeout = timeout
        self._numbers = itertools.count(1)
        self._answers: dict[str, queue.Queue[Json | None]] = {}
        self._lock = threading.Lock()
        self._settled: queue.Queue[Json | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Offshoot:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> int:
        """Ends the program and returns its exit code."""
        if self._process.stdin and not self._process.stdin.closed:
            self._process.stdin.close()
        return self._process.wait(self._timeout)

    def call(self, command: str, **fields: Any) -> Any:
        """Runs a command and returns the data of its answer. Fields that are `None` are not sent; use `raw` for null."""
        return self.raw({"type": command, **{key: value for key, value in fields.items() if value is not None}})

    def raw(self, command: Json) -> Any:
        """Runs a command that is spelled as the protocol does, and returns the data of its answer."""
        number = f"py-{next(self._numbers)}"
        answers: queue.Queue[Json | None] = queue.Queue()
        self._answers[number] = answers
        try:
            self._write({**command, "id": number})
            answer = answers.get(timeout=self._timeout)
        except queue.Empty:
            raise OffshootError(f"no answer to {command['type']} in {self._timeout} s") from None
        finally:
            self._answers.pop(number, None)
        if answer is None:
            raise OffshootError("the program has ended")
        if not answer["success"]:
            raise OffshootError(answer["error"])
        return answer.get("data")

    def prompt(self, message: str, timeout: float | None = None) -> str | None:
        """Sends a prompt, waits until the agent is idle, and returns the text of the last answer."""
        while not self._settled.empty():
            self._settled.get_nowait()
        if self.call("prompt", message=message)["disposition"] == "started":
            try:
                ended = self._settled.get(timeout=timeout or self._timeout)
            except queue.Empty:
                raise OffshootError("the agent is still working") from None
            if ended is None:
                raise OffshootError("the program has ended")
        text: str | None = self.call("get_last_assistant_text")["text"]
        return text

    def tree(self) -> list[Row]:
        """Returns the entries of all branches in one line each."""
        rows: list[Row] = self.call("get_tree", preview=True)["rows"]
        return rows

    def navigate(self, target: str | None, summarize: bool = False, note: str | None = None) -> Navigated:
        """Moves the leaf to an entry, or with `None` to before the first one."""
        moved: Navigated = self.raw(
            {"type": "navigate_tree", "targetId": target, "summarize": summarize, "note": note}
        )
        return moved

    def label(self, entry: str, label: str | None) -> None:
        """Labels an entry; `None` removes the label."""
        self.raw({"type": "set_label", "entryId": entry, "label": label})

    def branches(self) -> list[Json]:
        """Returns all branches, newest first."""
        rows: list[Json] = self.call("list_branches")["branches"]
        return rows

    def answer_dialog(self, dialog: Json, **answer: Any) -> None:
        """Answers an `extension_ui_request`: `value="..."`, `confirmed=True` or `cancelled=True`."""
        self._write({"type": "extension_ui_response", "id": dialog["id"], **answer})

    def _write(self, record: Json) -> None:
        line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            if self._process.stdin is None or self._process.stdin.closed:
                raise OffshootError("the program has ended")
            self._process.stdin.write(line)
            self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        # Lines of a binary pipe end in a line feed only.
        for line in self._process.stdout:
            record: Json = json.loads(line)
            answers = self._answers.get(str(record.get("id"))) if record.get("type") == "response" else None
            if answers is not None:
                answers.put(record)
                continue
            if record.get("type") == "agent_settled":
                self._settled.put(record)
            if self._on_event is not None:
                self._on_event(record)
        self._settled.put(None)
        for answers in list(self._answers.values()):
            answers.put(None)
