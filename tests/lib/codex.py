# SPDX-License-Identifier: MIT
"""A client of codex's executor protocol, for tests: WARDBOX is what it starts."""
import base64
import json
import os
import subprocess
from urllib.parse import quote


def uri(path):
    return "file://" + quote(os.path.abspath(path))


def text_of(chunk):
    return base64.b64decode(chunk)


class Client:
    def __init__(self, *options, start=True, **how):
        self.last, self.notes = 0, []
        self.p = subprocess.Popen(
            [os.environ["WARDBOX"], "serve", "--codex", *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)
        if start:
            self.begin()

    def begin(self):
        self.about = self.ask("initialize", clientName="test")["result"]
        self.send({"method": "initialized", "params": {}})

    def raw(self, line):
        self.p.stdin.write(line)
        self.p.stdin.flush()

    def line(self):
        return self.p.stdout.readline()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def post(self, method, **params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def next(self):
        line = self.line()
        assert line.endswith(b"\n"), "the server has gone"
        return json.loads(line)

    def get(self, wanted):
        """The answer of that id; what is no answer is kept."""
        while True:
            got = self.next()
            if got.get("id") == wanted:
                return got
            assert "id" not in got, got
            self.notes.append(got)

    def ask(self, method, **params):
        return self.get(self.post(method, **params))

    def result(self, method, **params):
        got = self.ask(method, **params)
        assert "result" in got, (method, got)
        return got["result"]

    def code(self, method, **params):
        got = self.ask(method, **params)
        assert "error" in got, (method, got)
        return got["error"]["code"]

    def start(self, name, *argv, cwd=".", env={}, tty=False, **more):
        return self.ask("process/start", processId=name, argv=list(argv),
                        cwd=uri(cwd), env=env, tty=tty, arg0=None, **more)

    def note(self, name, method):
        """The next notification of that kind about the process."""
        while True:
            for n in self.notes:
                if (n["params"]["processId"], n["method"]) == (name, method):
                    self.notes.remove(n)
                    return n["params"]
            got = self.next()
            assert "id" not in got, got
            self.notes.append(got)

    def end(self, name):
        """How it ended: code, and its output by stream."""
        said = {}
        code = self.note(name, "process/exited")
        self.note(name, "process/closed")
        for n in [n for n in self.notes if n["params"]["processId"] == name]:
            self.notes.remove(n)
            if n["method"] == "process/output":
                s = n["params"]["stream"]
                said[s] = said.get(s, b"") + text_of(n["params"]["chunk"])
        return code["exitCode"], said

    def run(self, text, **more):
        name = f"p{self.last}"
        got = self.start(name, "/bin/sh", "-c", text, **more)
        assert got.get("result", {}).get("processId") == name, got
        return self.end(name)

    def close(self):
        self.p.stdin.close()
        return self.p.wait()
