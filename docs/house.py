"""Draw the rooms of the house and the path of a query through them: docs/images/architecture.png.

python docs/house.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

PICTURE = Path(__file__).parent / "images" / "architecture.png"
PYTHON, CORE, DOOR, PATH = "#dbe7f5", "#f3e6d3", "#e4dff0", "#d6001c"
LAYERS = [
    ("math", "vectors, poses, lanes"),
    ("parallel", "threads"),
    ("closest", "points, segments, triangles"),
    ("convex", "GJK, EPA, manifolds"),
    ("bvh", "trees, the search through a forest"),
    ("query", "one file for each question"),
    ("scene", "named bodies, watched pairs"),
    ("robot", "kinematic trees, cells"),
    ("motion", "paths, sweeps"),
    ("guard", "braking, the table of bounds"),
    ("dynamics", "contacts solved, worlds, grains"),
]
ROOMS = [
    ("files", "meshio, urdf, srdf, scenario"),
    ("shapes, robots", "values that users make"),
    ("queries, scene, paths, guard", "questions, for one or for batches"),
    ("simulation", "worlds, vehicles, grains"),
    ("pictures, pages, viewer, cli", "what people look at"),
]


def room(
    axes: Axes, corner: tuple[float, float], size: tuple[float, float], words: tuple[str, str], colour: str
) -> None:
    """Draw a room with its name, and what happens in it: below in high rooms, beside in low ones."""
    shape = FancyBboxPatch(
        corner, *size, boxstyle="round,pad=0,rounding_size=0.12", facecolor=colour, edgecolor="#555555"
    )
    axes.add_patch(shape)
    (x, y), (width, height), (name, what) = corner, size, words
    is_high = height > 1.0
    middle = y + height / 2
    axes.text(x + 0.2, middle + 0.24 * is_high, name, va="center", fontsize=10, fontweight="bold")
    place = (x + 0.2, middle - 0.3) if is_high else (x + width - 0.2, middle)
    axes.text(*place, what, va="center", ha="left" if is_high else "right", fontsize=8.5, color="#333333")


def way(axes: Axes, points: list[tuple[float, float]]) -> None:
    """Draw a part of the path of a query, with an arrow at its end."""
    axes.plot(*zip(*points[:-1], strict=True), color=PATH, linewidth=2.0, solid_capstyle="round")
    axes.annotate(
        "", xy=points[-1], xytext=points[-2], arrowprops={"arrowstyle": "-|>", "color": PATH, "linewidth": 2.0}
    )


def main() -> None:
    """Draw the picture."""
    figure, axes = plt.subplots(figsize=(11.0, 6.0))
    for k, words in enumerate(ROOMS):
        room(axes, (0.0, 7.86 - 1.965 * k), (5.4, 1.34), words, PYTHON)
    axes.text(2.7, 9.75, "src/clearance: Python, no arithmetic loops", ha="center", fontsize=11)
    room(axes, (7.3, 0.0), (0.9, 9.2), ("", ""), DOOR)
    axes.text(
        7.75, 4.6, "core/bindings: checks, lets go of the GIL", ha="center", va="center", rotation=90, fontsize=10
    )
    for k, words in enumerate(LAYERS):
        room(axes, (10.4, 8.5 - 0.85 * k), (7.0, 0.7), words, CORE)
    axes.text(13.9, 9.75, "core: C++20, each layer includes only those above it", ha="center", fontsize=11)
    height = {name: 8.85 - 0.85 * k for k, (name, _) in enumerate(LAYERS)}
    there, back = height["query"] + 0.12, height["query"] - 0.12
    for left, right in ((5.4, 7.3), (8.2, 10.4)):
        way(axes, [(left, there), (right, there)])
        way(axes, [(right, back), (left, back)])
        axes.text((left + right) / 2, there + 0.28, "a question", color=PATH, fontsize=8.5, ha="center", va="center")
        axes.text((left + right) / 2, back - 0.28, "a bracket", color=PATH, fontsize=8.5, ha="center", va="center")
    for other, shift in (("bvh", 0.4), ("convex", 0.7), ("closest", 1.0)):
        way(axes, [(17.4, there), (17.4 + shift, there), (17.4 + shift, height[other]), (17.4, height[other])])
    axes.text(17.6, back - 0.35, "by kind\nof shape", color=PATH, fontsize=8.5, va="center")
    axes.set_xlim(-0.2, 18.9)
    axes.set_ylim(-0.2, 10.1)
    axes.axis("off")
    figure.savefig(PICTURE, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main()
