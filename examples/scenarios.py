"""Three scenarios with vehicles, humanoids, balls and houses, run and recorded; the page plays one in the browser.

They are those of K. Petersen, Effiziente Kollisionserkennung und echtzeitfähige Simulation der Kinematik, Dynamik und
Sensorik autonomer Fahrzeuge, 2007, section 5.5.3: a city, rooms, and robot bowling.

Run it: python examples/scenarios.py [city | indoor | bowling] [folder] [seconds]
"""

import sys
from pathlib import Path

import numpy as np

from clearance.simulation.playback import playback
from clearance.simulation.recordings import Recording
from clearance.simulation.runs import simulate
from clearance.simulation.scenario import Scenario


def fallen(recording: Recording) -> list[str]:
    """Name the humanoids whose chests are no longer upright in the last frame."""
    chests = [name for name in recording.names if name.endswith("/chest")]
    return [name.partition("/")[0] for name in chests if recording.of(name)[-1, 2, 2] < np.cos(np.radians(45.0))]


def main(name: str = "bowling", folder: str = ".", seconds: str | None = None) -> Recording:
    """Run a scenario, leave `recording.npz` and `NAME.html`, and return the recording."""
    scenario = Scenario.load(name)
    duration = None if seconds is None else float(seconds)
    recording = simulate(scenario, folder, duration=duration, overwrite=True, progress=True)
    assert recording is not None  # nobody stops it
    page = Path(folder) / f"{name}.html"
    playback(recording, page)
    print(f"{scenario.title}: {len(recording.names)} bodies, {recording.times[-1]:.2f} s. Page to play: {page}")
    for robot, track in recording.scans.items():
        print(f"The scanner of {robot} saw {np.isfinite(track.ranges[-1]).mean():.0%} of its beams end.")
    if down := fallen(recording):
        print(f"{len(down)} humanoids fell: {', '.join(down)}.")
    return recording


if __name__ == "__main__":
    main(*sys.argv[1:4])
