"""A session with heddle in Python's standard library: turns, approvals, an interrupt, and resume in a second process."""
import json, os, pathlib, subprocess

HEDDLE = pathlib.Path(__file__).resolve().parents[2] / "bin" / "heddle.js"


class Server:
    """A server as a child process. Reads until the response of a request, or the end of a turn."""

    def __init__(self):
        self.ids, self.early = 0, []
        command = ["node", str(HEDDLE), "-c", "model_provider=embedded"]
        options = {"env": {**os.environ, "HEDDLE_HOME": os.path.abspath("home")}, "encoding": "utf-8"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options)
        self.request("initialize", {"clientInfo": {"name": "session.py", "version": "1.0.0"}})
        self.send({"method": "initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def read(self):
        message = json.loads(self.process.stdout.readline())
        if "id" in message and "method" in message:
            self.send({"id": message["id"], "result": {"decision": self.decide(message["method"], message["params"])}})
        return message

    def decide(self, method, params):
        print("asked:", params.get("command", method))
        if "make" in params.get("command", ""):
            ids = {"threadId": params["threadId"], "turnId": params["turnId"]}
            self.send({"id": "interrupt", "method": "turn/interrupt", "params": ids})
        return "accept"

    def request(self, method, params):
        self.ids += 1
        self.send({"id": self.ids, "method": method, "params": params})
        while (message := self.read()).get("id") != self.ids or "method" in message:
            self.early.append(message)
        return message["result"] if "result" in message else exit(f"{method}: {message['error']['message']}")

    def turn(self, thread, text):
        self.request("turn/start", {"threadId": thread, "input": [{"type": "text", "text": text}]})
        while (message := self.early.pop(0) if self.early else self.read()).get("method") != "turn/completed":
            if message.get("method") == "item/completed":
                item = message["params"]["item"]
                print(item["type"], item.get("status") or item.get("text") or text.splitlines())
        print("turn", message["params"]["turn"]["status"])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


patch = json.dumps({"input": "*** Begin Patch\n*** Add File: notes/hello.txt\n+Hello.\n*** End Patch\n"})
first = Server()
settings = {"cwd": ".", "sandbox": "workspace-write", "approvalPolicy": "untrusted"}
thread = first.request("thread/start", settings)["thread"]["id"]
first.turn(thread, "say Good morning.")
first.turn(thread, 'call exec_command {"cmd":"mkdir notes && echo made"}\nsay Done.')
first.turn(thread, f"call apply_patch {patch}\nsay Written.")
first.turn(thread, 'call exec_command {"cmd":"make"}')
first.close()

second = Server()
resumed = second.request("thread/resume", {"threadId": thread})["thread"]
print("resumed:", [turn["status"] for turn in resumed["turns"]])
second.turn(thread, "say I am back.")
second.close()
