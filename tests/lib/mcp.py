# SPDX-License-Identifier: MIT
"""An MCP client of either era, for tests: WARDBOX is what it starts."""
import json
import os
import subprocess

MODERN = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {}}


class Client:
    def __init__(self, modern=False, command=None, **how):
        self.modern, self.last, self.notes = modern, 0, []
        self.p = subprocess.Popen(
            command or [os.environ["WARDBOX"], "mcp"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)
        if not modern:
            self.about = self.ask("initialize", protocolVersion="2025-06-18",
                                  capabilities={}, clientInfo={"name": "test",
                                                               "version": "1"})
            self.send({"jsonrpc": "2.0",
                       "method": "notifications/initialized"})

    def raw(self, line):
        self.p.stdin.write(line)
        self.p.stdin.flush()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def post(self, method, **params):
        self.last += 1
        if self.modern:
            params["_meta"] = {**MODERN, **params.get("_meta", {})}
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method,
                   "params": params})
        return self.last

    def get(self, wanted=None):
        """The next answer, or the one of that id; what is no answer is kept."""
        while True:
            line = self.p.stdout.readline()
            assert line.endswith(b"\n"), "the server has gone"
            got = json.loads(line)
            if "id" not in got:
                self.notes.append(got)
            elif wanted is None or got["id"] == wanted:
                return got

    def ask(self, method, **params):
        return self.get(self.post(method, **params))

    def call(self, tool, **arguments):
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        return answer.get("result", answer)

    def facts(self, tool, **arguments):
        answer = self.call(tool, **arguments)
        return answer.get("structuredContent", answer)

    def close(self):
        self.p.stdin.close()
        return self.p.wait()
