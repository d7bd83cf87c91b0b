"""A session with heddle in the official Python SDK of Codex (pip install openai-codex), which starts heddle in place of codex."""
import os, pathlib

from openai_codex import ApprovalMode, Codex, CodexConfig, Sandbox

HEDDLE = pathlib.Path(__file__).resolve().parents[2] / "bin" / "heddle.js"
config = CodexConfig(
    codex_bin=str(HEDDLE),
    config_overrides=("model_provider=scripted",),
    env={"HEDDLE_HOME": os.path.abspath("home")},
)

with Codex(config=config) as codex:
    print(codex.metadata.server_info.name)
    thread = codex.thread_start(cwd=os.getcwd(), sandbox=Sandbox.read_only, approval_mode=ApprovalMode.auto_review)
    result = thread.run("think A greeting.\nsay Good morning.")
    print(result.status.value, [item.root.type for item in result.items], result.final_response)

    turn = thread.turn("say This streams, word by word.")
    for event in turn.stream():
        if event.method == "item/agentMessage/delta":
            print(event.payload.delta, end="|")
    print()

    print(thread.run('call exec_command {"cmd":"echo from a command"}').final_response)
    thread.set_name("A first session")

with Codex(config=config) as codex:
    resumed = codex.thread_resume(thread.id)
    stored = resumed.read(include_turns=True).thread
    print(stored.name, len(stored.turns))
    print(resumed.run("say I am back.").final_response)
