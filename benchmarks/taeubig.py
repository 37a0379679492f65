"""The experiments of Täubig, Bäuml and Frese on braking in time, done again with a stand-in for their humanoid.

H. Täubig, B. Bäuml, U. Frese, Real-time Swept Volume and Distance Computation for Self Collision Detection, IROS 2011.
Tables go to the terminal; --write makes the page docs/taeubig.md and its pictures.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from textwrap import fill

import numpy as np
from measure import Agreement, Table, machine
from taeubig_brakes import approaches, lengths
from taeubig_figures import draw_approaches, draw_distances, draw_work
from taeubig_motions import CYCLE, RATE, ROBOT, Recording, anything, approach, figure_9, hands, mixed_session
from taeubig_tables import (
    BUDGETS,
    PRINTED,
    SPEEDS,
    Studies,
    cm,
    costs,
    table_of_approaches,
    table_of_brakes,
    table_of_causes,
    table_of_costs,
    table_of_factors,
)

import clearance as cl

DOCS = Path(__file__).parents[1] / "docs"

HEAD = """# The experiments of Täubig, Bäuml and Frese

Written by `python benchmarks/taeubig.py --write`; do not edit.

H. Täubig, B. Bäuml, U. Frese, *Real-time Swept Volume and Distance Computation for Self Collision Detection*, IROS
2011, let a humanoid brake before it touches itself. We do their experiments again with `clearance.samples.upper_body`,
a stand-in of the same size: 26 bodies, 80 points, 20 joints. Parameters are theirs: cycles and latency of 10 ms, and
20 rad/s² for the worst acceleration and the least deceleration. *Printed* figures are of the document, for its robot,
its motions and its machine; all others are ours, on {machine}.
Joints are double integrators that do as planned until the guard says stop, and then brake with 20 rad/s² each.

![Hands that approach each other](images/guard_approach.png)

Figure 8: the hands go with constant joint velocities until the guard says stop, brake, and return to where that was.
Hands that stand still again are farther apart than what they sweep, by what they could do within the latency.

![Distances while moving and stopping](images/guard_distances.png)

Figure 9: the hands approach each other seven times and part again; joints have up to 0.75 pi rad/s. The guard with a
budget proves as much as it has to, so its line is below the plain one, but both reach nought in the same cycles.

![Work of every cycle](images/guard_work.png)

Figure 10: operations of every cycle of figure 9, and what is proved in the first 100 of them: a limited guard
has looked at all pairs after some cycles only.
"""


def studies_of(count: int) -> Studies:
    knowing = cl.Braking(latency=CYCLE, acceleration=RATE, deceleration=RATE, command_error=2.0)
    found, least, most = approaches(hands, count), 0.01 * min(PRINTED["bounded"]), 0.01 * max(PRINTED["bounded"])
    studies = {
        "hands": found,
        f"hands, bounded below {cm(least)} cm": [one for one in found if one.bounded < least],
        f"hands, {cm(least)} to {cm(most)} cm, as printed": [one for one in found if least <= one.bounded <= most],
        f"hands, above {cm(most)} cm": [one for one in found if one.bounded > most],
        "hands, command known": approaches(hands, count, knowing, tells_command=True),
        "anything": approaches(anything, count),
        "anything, command known": approaches(anything, count, knowing, tells_command=True),
    }
    return {name: found for name, found in studies.items() if found}


def check(studies: Studies, recording: Recording, agreement: Agreement) -> None:
    """Nothing touches, and no search finds less than what was proved."""
    touching = np.minimum(ROBOT.distances(np.array(recording.q)).distance, 0.0)
    agreement.check("closed loop, depth", touching, np.zeros(touching.shape))
    for name, found in studies.items():
        for one in found:
            attacks = [one.in_box] if "command" in name else [one.in_box, one.late, one.late_at_worst]
            agreement.check(f"{name}, proof", max(one.lower - min(attacks), 0.0), 0.0)
            agreement.check(f"{name}, depth", min(one.at_once, 0.0), 0.0)


def page(found: Sequence[Table]) -> str:
    shown = StringIO()
    with redirect_stdout(shown):
        for table in found:
            table.notes = [fill(note, 120) for note in table.notes]
            table.show(markdown=True)
    return HEAD.format(machine=machine().partition(";")[0]) + shown.getvalue().replace("\n### ", "\n## ")


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--brakes", type=int, default=60, help="motions of each kind")
    parser.add_argument("--cycles", type=int, default=100_000, help="of each guard whose time is taken")
    parser.add_argument("--quick", action="store_true", help="less than a minute, to see whether everything runs")
    parser.add_argument("--write", action="store_true", help="write docs/taeubig.md and its pictures")
    options = parser.parse_args()
    brakes, cycles, motions = (4, 2_000, 2) if options.quick else (options.brakes, options.cycles, 24)
    agreement = Agreement()
    runs = {speed: approach(speed) for speed in SPEEDS}
    recording, stops = figure_9()
    studies = studies_of(brakes)
    check(studies, recording, agreement)
    long = mixed_session(motions)
    text = page(
        [
            table_of_approaches(runs),
            table_of_brakes([lengths(recording, brake) for brake in stops]),
            table_of_factors(studies),
            table_of_causes(studies),
            table_of_costs({name: costs(long, budget, cycles) for name, budget in BUDGETS.items()}),
        ]
    )
    print(text)
    if options.write:
        (DOCS / "taeubig.md").write_text(text)
        draw_approaches(runs, DOCS / "images" / "guard_approach.png")
        draw_distances(recording, stops, DOCS / "images" / "guard_distances.png")
        draw_work(recording, DOCS / "images" / "guard_work.png")
    agreement.exit()


if __name__ == "__main__":
    main()
