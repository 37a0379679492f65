"""Recordings in the browser: a slider for the time, and a button that plays."""

from __future__ import annotations

import time
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..picture_parts import counted, direction_of
from ..simulation.grain_recordings import GrainRecording
from ..simulation.page_parts import box_around, camera
from ..simulation.playback import PLAIN, beam_points
from ..simulation.recordings import Recording
from ..simulation.scenario import Scenario, View
from .bodies import Bodies, Body
from .camera import look
from .grains import Grains
from .marks import Marks
from .panel import note
from .still import Options
from .things import Things

__all__: list[str] = []

Floats = NDArray[np.float64]

PAUSE = 1.0 / 30.0  # seconds between two pictures
BESIDE_THE_PANEL = 1.2  # there is less room than on a page, so things are looked at from farther away
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5")


class Film:
    """A recording on a server, with a clock.

    Parameters
    ----------
    server : viser.ViserServer
    recording : Recording or GrainRecording
    options : Options
    """

    def __init__(self, server: Any, recording: Recording | GrainRecording, options: Options) -> None:
        if not len(recording):
            raise ValueError("the recording has no frames, so there is nothing to show.")
        self.recording, self._server = recording, server
        self._shown = Grains(server, recording) if isinstance(recording, GrainRecording) else Bodied(server, recording)
        self._drawing, self._is_stale = Lock(), False
        self._is_going, self._has_ended = Event(), Event()
        _aim(server, self._shown.view, self._shown.around, options)
        self._add_panel()
        self.refresh()
        self._player = Thread(target=self._go_on, daemon=True)
        self._player.start()

    @property
    def time(self) -> float:
        """What time is shown, in seconds."""
        return float(self._clock.value)

    def seek(self, seconds: float) -> None:
        """Show what was at a time, or at the first or last one."""
        first, last = self.recording.times[[0, -1]].tolist()
        self._clock.value = min(max(float(seconds), first), last)

    def play(self, going: bool = True) -> None:
        """Let time go on, from the beginning if it is over; or let it stand still."""
        if going and self.time >= self.recording.times[-1]:
            self.seek(self.recording.times[0])
        (self._is_going.set if going else self._is_going.clear)()
        self._button.label = "Pause" if going else "Play"

    def change(self, things: Things) -> None:
        """Show grains again after they have moved."""
        if not isinstance(self._shown, Grains) or not isinstance(things.film, GrainRecording):
            raise ValueError("things of another kind need a view of their own.")
        with self._drawing:
            self.recording = things.film
            self._shown.change(things.film)
        self.refresh()

    def refresh(self) -> None:
        """Draw what was at the time of the clock. While somebody else draws, only say that there is more to draw."""
        self._is_stale = True
        while self._is_stale and self._drawing.acquire(blocking=False):
            try:
                self._is_stale = False
                times = self.recording.times
                frame = int(np.searchsorted(times, self.time + 1e-9 * max(1.0, abs(times[-1])), side="right")) - 1
                with self._server.atomic():
                    self._shown.show(max(frame, 0))
            finally:
                self._drawing.release()

    def close(self) -> None:
        """End the clock."""
        self._has_ended.set()
        self._is_going.set()
        self._player.join()

    def _add_panel(self) -> None:
        gui, times = self._server.gui, self.recording.times
        first, last = float(times[0]), float(times[-1])
        seconds = last - first
        told = f", {seconds:.2f} s" if seconds else ""
        with gui.add_folder("Recording"):
            gui.add_html(note(f"{self._shown.summary}, {counted(len(times), 'frame')}{told}."))
            step = 10.0 ** np.floor(np.log10(max(seconds, 1e-6) / 1000.0))
            self._clock = gui.add_slider("Time, s", first, last, float(step), first, visible=seconds > 0.0)
            self._button = gui.add_button("Play", visible=seconds > 0.0)
            self._speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1", visible=seconds > 0.0)
        self._clock.on_update(lambda _: self.refresh())
        self._button.on_click(lambda _: self.play(not self._is_going.is_set()))

    def _go_on(self) -> None:
        """Turn the clock while time goes on."""
        before = time.monotonic()
        while not self._has_ended.is_set():
            if not self._is_going.is_set():
                self._is_going.wait()
                before = time.monotonic()
            time.sleep(PAUSE)
            now = time.monotonic()
            if self._is_going.is_set() and not self._has_ended.is_set():
                self.seek(self.time + float(self._speed.value) * (now - before))
                if self.time >= self.recording.times[-1]:
                    self.play(False)
            before = now


class Bodied:
    """Bodies and scans of a recording on a server, one frame at a time.

    Parameters
    ----------
    server : viser.ViserServer
    recording : Recording
    """

    def __init__(self, server: Any, recording: Recording) -> None:
        self._recording, scene = recording, recording.scene(0)
        self.view = Scenario.from_text(recording.scenario).view if recording.scenario else View()
        self.summary = f"{len(recording.names)} bodies"
        self._names = [name for name in recording.names if name in set(scene.names)]
        self._places = [recording.names.index(name) for name in self._names]
        self._fans = [(track.times, beam_points(track)) for track in recording.scans.values() if track.shown_beams]
        self._bodies = Bodies(server, "bodies")
        poses = recording.poses[:, self._places].astype(np.float64)
        known = recording.colours
        bodies = {
            name: Body(scene.shape(name), poses[0, k], known.get(name) or known.get(name.partition("/")[0]) or PLAIN)
            for k, name in enumerate(self._names)
        }
        boxes = self._bodies.boxes({name: body for name, body in bodies.items()})
        reached = [box_around(boxes[name], poses[:, k]) for k, name in enumerate(self._names) if name in boxes]
        self.around = np.concatenate(reached) if reached else np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]])
        self._bodies.show(bodies, self.around)
        self._marks = Marks(server, float(np.linalg.norm(np.ptp(self.around, axis=0))))

    def show(self, frame: int) -> None:
        """Move bodies to where they were, and show what scanners saw last."""
        poses = self._recording.poses[frame, self._places].astype(np.float64)
        self._bodies.place(dict(zip(self._names, poses, strict=True)))
        beams = []
        for times, points in self._fans:
            scan = int(np.searchsorted(times, self._recording.times[frame] + 1e-9, side="right")) - 1
            if scan >= 0:
                starts, ends = np.broadcast_to(points[scan, 0], points[scan, 1:].shape), points[scan, 1:]
                beams.append(np.stack([starts, ends], axis=1))
        self._marks.show_beams(beams, [])


def _aim(server: Any, view: View, around: Floats, options: Options) -> None:
    """Look from where the page that plays would look from, unless another direction is asked for."""
    found = camera(view, around)
    flat = np.cos(found["elevation"])
    towards = np.array([flat * np.cos(found["azimuth"]), flat * np.sin(found["azimuth"]), np.sin(found["elevation"])])
    if options.view_from is not None:
        towards = direction_of(options.view_from)
    target = np.array(found["target"])
    look(
        server,
        target,
        target + BESIDE_THE_PANEL * found["distance"] * towards,
        0.5 * float(np.linalg.norm(np.ptp(around, axis=0))),
    )
