"""Pages in a real browser without a window: what it shows, and what it complains about."""

import os
import re
import shutil
import subprocess

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--window-size=1000,750"),
    *("--virtual-time-budget=10000", "--enable-logging=stderr"),
]
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed, so the page is not looked at")


def look_at(page, folder, address=""):
    """Open a page; give the picture of it as a path, and all complaints on its console."""
    shot = folder / "shot.png"
    places = [f"--user-data-dir={folder / 'profile'}", f"--screenshot={shot}", page.as_uri() + address]
    # Sanitizers are not for browsers.
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    done = subprocess.run([CHROMIUM, *FLAGS, *places], capture_output=True, text=True, timeout=300, env=plain)
    complaint = re.compile(r"(?:WARNING|ERROR):CONSOLE|Uncaught|Refused to")
    return shot, [line for line in done.stderr.splitlines() if complaint.search(line)]
