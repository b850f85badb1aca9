"""Walks a session, goes back to a prompt, and starts a new branch there.

    python3 example.py PROGRAM SESSION
"""

import sys

from offshoot import Offshoot

program, session = sys.argv[1:3]
with Offshoot([program], session, ["--model", "offshoot/offline"]) as agent:
    for row in agent.tree():
        print("  " * row["depth"] + row["text"])
    prompts = [row for row in agent.tree() if row["text"].startswith("user: ")]
    moved = agent.navigate(prompts[-1]["id"], note="The other one was faster.")
    print("back to:", moved["editorText"])
    print("answered:", bool(agent.prompt("Use Go instead")))
    print("branches:", len(agent.branches()))
