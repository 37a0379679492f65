"""Pages in a real browser without a window: what they show, what they complain about, and a hand to use them with.

The browser is told what to do in its own protocol, through two pipes. It starts once and serves all tests of a run.
"""

import atexit
import base64
import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTH, HEIGHT = 1000, 750
PATIENCE = 120.0  # seconds: machines are slow at times, and what never comes is waited for in failing tests only
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", f"--window-size={WIDTH},{HEIGHT}"),
    *("--disable-dev-shm-usage", "--enable-unsafe-swiftshader", "--remote-debugging-pipe", "about:blank"),
]
# What drivers without a graphics card say about pictures that are taken of them.
OF_THE_DRIVER = re.compile(r"GL Driver Message \(OpenGL, Performance, [^)]*\): GPU stall due to ReadPixels")
# The browser reads from 3 and writes to 4, whatever these are here.
LAUNCH = "import os, sys; read, write = map(int, sys.argv[1:3]); os.dup2(read, 3); os.dup2(write, 4); "
LAUNCH += "os.execv(sys.argv[3], sys.argv[3:])"
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed, so the page is not looked at")


def look_at(page, folder, address=""):
    """Open a page; give the picture of it as a path, and all complaints on its console."""
    with shared_browser().open(page.as_uri() + address) as tab:
        shot = tab.picture(folder / "shot.png")
        return shot, tab.complaints


def shared_browser():
    """The browser of this run; another one if it has died."""
    if not _shared().is_alive:
        _shared.cache_clear()
    return _shared()


@cache
def _shared():
    browser = Browser()
    atexit.register(browser.close)
    return browser


class Browser:
    """A browser that runs until it is closed."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self._commands = os.pipe()
        self._answers, answers = os.pipe()
        high = [fcntl.fcntl(pipe, fcntl.F_DUPFD, 10) for pipe in (commands, answers)]
        start = [sys.executable, "-c", LAUNCH, *map(str, high)]
        # Sanitizers are not for browsers.
        plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
        self._process = subprocess.Popen(
            [*start, CHROMIUM, f"--user-data-dir={self._folder.name}", *FLAGS],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=high,
            env=plain,
        )
        for pipe in (commands, answers, *high):
            os.close(pipe)
        self._number, self._unread, self._events = 0, b"", {}

    @property
    def is_alive(self):
        return self._process.poll() is None

    def open(self, address):
        """Open a page and wait until it is loaded."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        tab = Tab(self, target, session)
        tab.go_to(address)
        return tab

    def ask(self, method, session=None, **parameters):
        """Send a command and wait for its answer; what happens meanwhile is kept for the tabs."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            found = self._next(deadline)
            assert found is not None, f"the browser does not answer to {method}"
            if found.get("id") == self._number:
                assert "error" not in found, f"{method}: {found['error']}"
                return found["result"]

    def events(self, session):
        """Take what has happened in a tab since it was asked last."""
        while self._next(time.monotonic()) is not None:
            pass
        return self._events.pop(session, [])

    def _next(self, deadline):
        """Read a message, or None if there is none until then."""
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            more = os.read(self._answers, 1 << 20)
            assert more, "the browser has died"
            self._unread += more
        text, _, self._unread = self._unread.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self._events.setdefault(message.get("sessionId"), []).append(message)
        return message

    def close(self):
        """End the browser; once is enough."""
        if self.is_alive:
            os.write(self._commands, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
            try:
                self._process.wait(timeout=10.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._folder.cleanup()


class Tab:
    """A page that is open, and all complaints on its console so far."""

    def __init__(self, browser, target, session):
        self._browser, self._target, self._session = browser, target, session
        self._loads, self._complaints = 0, []
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._browser.ask("Target.closeTarget", targetId=self._target)

    def ask(self, method, **parameters):
        return self._browser.ask(method, self._session, **parameters)

    def go_to(self, address):
        """Show another page, and wait until it is loaded."""
        self._follow()
        before, deadline = self._loads, time.monotonic() + PATIENCE
        self.ask("Page.navigate", url=address)
        while self._loads == before:
            assert time.monotonic() < deadline, f"{address} does not load"
            time.sleep(0.02)
            self._follow()

    def go_offline(self):
        """Take the network away."""
        self.ask("Network.enable")
        none = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.ask("Network.emulateNetworkConditions", offline=True, **none)

    @property
    def complaints(self):
        """Errors and warnings, one string each."""
        self._follow()
        return list(self._complaints)

    def _follow(self):
        for event in self._browser.events(self._session):
            told = event["params"]
            if event["method"] == "Page.loadEventFired":
                self._loads += 1
            elif event["method"] == "Runtime.exceptionThrown":
                details = told["exceptionDetails"]
                self._complaints.append(f"Uncaught: {details.get('exception', {}).get('description', details['text'])}")
            elif event["method"] == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
                words = [str(word.get("value", word.get("description", ""))) for word in told["args"]]
                self._complaints.append(f"{told['type']}: {' '.join(words)}")
            elif event["method"] == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
                entry = told["entry"]
                if not OF_THE_DRIVER.search(entry["text"]):
                    self._complaints.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}")

    def evaluate(self, script):
        """Run a script in the page; give its value."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, script, what):
        """Wait until a script is true in the page; give its value."""
        deadline = time.monotonic() + PATIENCE
        while not (value := self.evaluate(script)):
            assert time.monotonic() < deadline, f"there is no {what}: {self.complaints}"
            time.sleep(0.05)
        return value

    def picture(self, path):
        """Save what the page shows as a PNG; give the path."""
        shot = self.ask("Page.captureScreenshot", format="png")["data"]
        Path(path).write_bytes(base64.b64decode(shot))
        return path

    def press(self, key):
        """Press a key, such as ArrowRight, and let it go."""
        for kind in ("rawKeyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=KEYS[key])


KEYS = {"ArrowRight": 39, "ArrowLeft": 37, "End": 35, "Home": 36}
