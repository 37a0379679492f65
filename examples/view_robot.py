"""A robot in the browser: move its joints by sliders, and see how near it comes to what stands around.

Run it: python examples/view_robot.py                   stays open until Ctrl+C
        python examples/view_robot.py robot.html        leaves a page that opens offline, and ends
"""

import sys
from pathlib import Path

import clearance as cl
from clearance import samples


def main(page: str | Path | None = None) -> cl.RobotGap:
    """Show an arm in its cell, on its way from the shelf to the machine; return where it is nearest to anything."""
    robot, cell, path = samples.arm(), samples.arm_cell(), samples.arm_path()
    report = cl.check_path(robot, cell, path)
    print(f"Along the path {' and '.join(report.pair)} come nearest: {1e3 * report.upper:.1f} mm.")
    with cl.view(robot, world=cell, q=path[0], title="An arm in its cell", port=0) as viewer:
        viewer.move(report.q_worst)
        if page is None:
            viewer.wait()
        else:
            viewer.save(page)
            print(f"Page to turn around: {page}")
        return robot.nearest(viewer.q, cell)


if __name__ == "__main__":
    main(*sys.argv[1:2])
