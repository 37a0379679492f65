"""Things in the browser, live. It needs viser, trimesh and SciPy: `pip install clearance[view]`."""

from .viewer import Viewer, view

__all__ = ["Viewer", "view"]
