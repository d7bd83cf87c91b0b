"""Tests of code that uses an agent, with Python's standard library. The model of the server answers from a script.

    python3 -m unittest test_scripted.py    or    pytest test_scripted.py

In a copy of this file, set HEDDLE_JS to the path of heddle's bin/heddle.js.
"""
import json, os, pathlib, subprocess, tempfile, threading, unittest

HEDDLE = os.environ.get("HEDDLE_JS") or str(pathlib.Path(__file__).resolve().parents[2] / "bin" / "heddle.js")
SECONDS_MAX = 60


class Agent:
    """A client, and its server with a script in place of a model. It is killed after a minute, so no test hangs."""

    def __init__(self, script):
        self.ids, self.early = 0, []
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name, "script.yaml")
        self.file.write_text(script, encoding="utf-8")
        # Neither a configuration nor a key of yours counts in this environment.
        env = {"PATH": os.environ["PATH"], "HOME": self.folder.name}
        self.log = tempfile.TemporaryFile("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            ["node", HEDDLE, "--deterministic", "--model-script", str(self.file)],
            **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.log},
            **{"encoding": "utf-8", "cwd": self.folder.name, "env": env},
        )
        self.limit = threading.Timer(SECONDS_MAX, self.process.kill)
        self.limit.start()

    def __enter__(self):
        try:
            self.request("initialize", {"clientInfo": {"name": "test_scripted", "version": "1.0.0"}})
            self.send({"method": "initialized"})
            return self
        except BaseException:
            self.end()
            raise

    def __exit__(self, failed, *_):
        code, log = self.end()
        # The exit code is 1 if a request had no response in the script, or a response was not used.
        if not failed and code != 0:
            raise AssertionError(log)

    def end(self):
        self.process.stdin.close()
        code = self.process.wait()
        self.limit.cancel()
        self.process.stdout.close()
        log = self.logged()
        self.log.close()
        self.folder.cleanup()
        return code, log

    def logged(self):
        self.log.seek(0)
        return self.log.read()

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            raise AssertionError(f"the server has ended: {self.logged()}")
        return json.loads(line)

    def request(self, method, params):
        self.ids += 1
        self.send({"id": self.ids, "method": method, "params": params})
        while (message := self.read()).get("id") != self.ids or "method" in message:
            self.early.append(message)
        if "error" in message:
            raise RuntimeError(message["error"]["message"])
        return message["result"]

    def messages(self):
        """All notifications and requests of the server up to the end of the turn."""
        while True:
            message = self.early.pop(0) if self.early else self.read()
            yield message
            if message.get("method") == "turn/completed":
                return


def ask(agent, text, decide=lambda params: "decline"):
    """The code under test: runs one turn, and returns its last message. `decide` answers requests for approval."""
    settings = {"approvalPolicy": "untrusted", "sandbox": "danger-full-access"}
    thread = agent.request("thread/start", settings)["thread"]["id"]
    agent.request("turn/start", {"threadId": thread, "input": [{"type": "text", "text": text}]})
    answer = None
    for message in agent.messages():
        method, params = message.get("method"), message.get("params")
        if method == "item/commandExecution/requestApproval":
            agent.send({"id": message["id"], "result": {"decision": decide(params)}})
        elif method == "item/completed" and params["item"]["type"] == "agentMessage":
            answer = params["item"]["text"]
        elif method == "turn/completed" and params["turn"]["status"] != "completed":
            raise RuntimeError((params["turn"]["error"] or {}).get("message") or params["turn"]["status"])
    return answer


class Asking(unittest.TestCase):
    def test_the_last_message_is_the_answer(self):
        with Agent("- [{ message: I look., phase: commentary }, It is fine.]") as agent:
            self.assertEqual(ask(agent, "Is this fine?"), "It is fine.")

    def test_a_failed_turn_is_an_error(self):
        with Agent("- error: usageLimitExceeded\n  text: Come back at 9.") as agent:
            self.assertRaisesRegex(RuntimeError, "Come back at 9", ask, agent, "Hello?")

    def test_a_rate_limit_takes_no_time(self):
        with Agent("- { error: rateLimitExceeded, retry: 600000 }\n- Here I am.") as agent:
            self.assertEqual(ask(agent, "Hello?"), "Here I am.")

    def test_a_declined_command_does_not_run(self):
        script = "- call: exec_command\n  arguments: { cmd: touch made.txt }\n- match: { output: declined }\n  reply: Then not."
        with Agent(script) as agent:
            asked = []
            answer = ask(agent, "Make it.", lambda params: asked.append(params["command"]) or "decline")
            self.assertEqual((answer, len(asked), os.listdir(agent.folder.name)), ("Then not.", 1, ["script.yaml"]))

    def test_a_run_that_does_not_follow_the_script_fails(self):
        with self.assertRaisesRegex(AssertionError, "1 response not used:\n  response 2"):
            with Agent("- Hello.\n- And bye.") as agent:
                ask(agent, "Hello?")

    def test_a_script_with_a_typo_fails(self):
        with self.assertRaisesRegex(AssertionError, "did you mean message"):
            with Agent("- mesage: Hello."):
                pass


if __name__ == "__main__":
    unittest.main()
