# SPDX-License-Identifier: MIT
"""Chromium by its DevTools protocol, over a pipe."""
import base64
import json
import os
import shutil
import subprocess
import tempfile

NAMES = "chromium", "chromium-browser", "google-chrome"


class Browser:
    def __init__(self, *options):
        self.home = tempfile.mkdtemp(prefix="wardbox-browser-")
        program = next(filter(None, map(shutil.which, NAMES)))
        to_read, self.to = os.pipe()
        self.of, to_write = os.pipe()

        def place():
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars",
             f"--user-data-dir={self.home}", *options, "about:blank"],
            preexec_fn=place, close_fds=False, env=dict(os.environ, HOME=self.home),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.had, self.last, self.session, self.events = b"", 0, None, []
        target = self.do("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.do("Target.attachToTarget", targetId=target,
                               flatten=True)["sessionId"]
        for domain in "Page", "Runtime", "Log", "Network":
            self.do(domain + ".enable")

    def do(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.to, text):]
        while True:
            got = self.read()
            if got.get("id") == self.last:
                assert "error" not in got, (method, got["error"])
                return got["result"]
            self.events.append(got)

    def read(self):
        while b"\0" not in self.had:
            more = os.read(self.of, 1 << 20)
            assert more, "the browser has ended"
            self.had += more
        text, self.had = self.had.split(b"\0", 1)
        return json.loads(text)

    def js(self, text):
        """What the expression is, a promise's value awaited."""
        got = self.do("Runtime.evaluate", expression=text, awaitPromise=True,
                      returnByValue=True)
        assert "exceptionDetails" not in got, (text, got["exceptionDetails"])
        return got["result"].get("value")

    def until(self, text):
        """Waits for the expression to be true; its value."""
        got = self.js("new Promise(done => { const end = Date.now() + 20000;"
                      "const turn = () => { let v; try { v = (" + text + ") } catch (e) "
                      "{ v = null } if (v || Date.now() > end) done(v instanceof Object || v);"
                      "else setTimeout(turn, 20) }; turn() })")
        assert got, (text, self.complaints(), self.js("document.body.innerText"))
        return got

    def go(self, url):
        self.do("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def type(self, text):
        for c in text:
            if c in KEYS:
                self.key(*KEYS[c])
            else:
                self.do("Input.dispatchKeyEvent", type="char", text=c)

    def key(self, name, code, text="", modifiers=0):
        key = dict(key=name, code=name, windowsVirtualKeyCode=code, modifiers=modifiers)
        self.do("Input.dispatchKeyEvent", type="keyDown", **key,
                **({"text": text} if text else {}))
        self.do("Input.dispatchKeyEvent", type="keyUp", **key)

    def look(self, width, height=900, scheme="light"):
        self.do("Emulation.setDeviceMetricsOverride", width=width, height=height,
                deviceScaleFactor=1, mobile=False)
        self.do("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.do("Page.captureScreenshot")["data"]))

    def complaints(self):
        """What the page logged or was refused: errors, and breaches of its rules."""
        self.do("Runtime.evaluate", expression="0")
        said = []
        for e in self.events:
            p = e.get("params", {})
            if e.get("method") == "Runtime.exceptionThrown":
                said.append(str(p["exceptionDetails"]))
            if e.get("method") == "Log.entryAdded" and p["entry"]["level"] == "error":
                said.append(p["entry"]["text"] + " " + p["entry"].get("url", ""))
        return said

    def asked(self):
        """The addresses of all that was fetched."""
        return [e["params"]["request"]["url"] for e in self.events
                if e.get("method") == "Network.requestWillBeSent"]

    def close(self):
        self.session = None
        try:
            self.do("Browser.close")
        except AssertionError:
            pass
        self.process.wait()
        # Its helpers write until they have seen that it is gone.
        while os.path.exists(self.home):
            shutil.rmtree(self.home, ignore_errors=True)


KEYS = {"\r": ("Enter", 13, "\r"), "\t": ("Tab", 9), "\x1b": ("Escape", 27)}
