#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A model that says what a file lists, for codex: codex-model.py CALLS SAID PORT

CALLS is a JSON list of a response's items, one for each question; then it says that
it is done. SAID gets what codex answers to each, a line of JSON each. A text
"@SESSION" becomes the number of the session that codex told of last. PORT is a pipe
that is told the port.
"""
import http.server
import json
import re
import sys

calls, said = json.load(open(sys.argv[1])), open(sys.argv[2], "w")
asked = 0


def item_of(question, n):
    last = question["input"][-1] if question.get("input") else {}
    if n:
        print(json.dumps(last.get("output")), file=said, flush=True)
    if n >= len(calls):
        return {"type": "message", "role": "assistant", "id": f"m{n}",
                "content": [{"type": "output_text", "text": "done"}]}
    text = json.dumps(dict(calls[n], call_id=f"call{n}"))
    known = re.findall(r"session ID (\d+)", json.dumps(question["input"]))
    return json.loads(text.replace("@SESSION", known[-1] if known else "0"))


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer("application/json", b'{"models": [], "data": []}')

    def do_POST(self):
        global asked
        length = int(self.headers.get("Content-Length", 0))
        item = item_of(json.loads(self.rfile.read(length)), asked)
        asked += 1
        usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0,
                 "input_tokens_details": None, "output_tokens_details": None}
        events = [{"type": "response.created", "response": {"id": f"r{asked}"}},
                  {"type": "response.output_item.done", "item": item},
                  {"type": "response.completed",
                   "response": {"id": f"r{asked}", "usage": usage}}]
        self.answer("text/event-stream", "".join(
            f"event: {e['type']}\ndata: {json.dumps(e)}\n\n"
            for e in events).encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
with open(sys.argv[3], "w") as port:
    print(server.server_address[1], file=port)
server.serve_forever()
