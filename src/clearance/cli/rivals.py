"""Other libraries, asked for the distance of a pair: coal and python-fcl, where these are installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ..shapes import Box, Capsule, Cylinder, Mesh, Placed

__all__: list[str] = []

Ask = Callable[[], float]


def rivals_of(a: Placed, b: Placed) -> dict[str, Ask]:
    """Put a question to all libraries that are there; bodies and transforms are made once."""
    asks = {}
    for name, (module, make) in RIVALS.items():
        try:
            library = importlib.import_module(module)
        except ImportError:
            continue
        asks[name] = make(library, a, b)
    return asks


def _coal(coal: Any, a: Placed, b: Placed) -> Ask:
    """The functor that coal offers for repeated calls, which takes half as long as its function."""
    body_a, body_b = (_body(coal, one.shape, _coal_mesh) for one in (a, b))
    at_a, at_b = (coal.Transform3s(one.pose[:3, :3], one.pose[:3, 3]) for one in (a, b))
    compute, request, result = coal.ComputeDistance(body_a, body_b), coal.DistanceRequest(), coal.DistanceResult()

    def ask(keep: tuple[Any, ...] = (body_a, body_b)) -> float:  # the functor itself does not keep them alive
        result.clear()
        return float(compute(at_a, at_b, request, result))

    return ask


def _fcl(fcl: Any, a: Placed, b: Placed) -> Ask:
    body_a, body_b = (
        fcl.CollisionObject(_body(fcl, one.shape, _fcl_mesh), fcl.Transform(one.pose[:3, :3], one.pose[:3, 3]))
        for one in (a, b)
    )
    request = fcl.DistanceRequest(enable_nearest_points=True)

    def ask() -> float:
        return float(fcl.distance(body_a, body_b, request, fcl.DistanceResult()))

    return ask


def _body(library: Any, shape: Any, mesh: Callable[[Any, Mesh], Any]) -> Any:
    """Both libraries are of one family, and name their shapes alike."""
    if isinstance(shape, Mesh):
        return mesh(library, shape)
    if isinstance(shape, Box):
        return library.Box(*shape.size)
    kinds = {Capsule: "Capsule", Cylinder: "Cylinder"}
    return getattr(library, kinds[type(shape)])(shape.radius, shape.length)


def _coal_mesh(coal: Any, mesh: Mesh) -> Any:
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(mesh.faces), len(mesh.vertices))
    model.addVertices(mesh.vertices)
    model.addTriangles(mesh.faces)
    model.endModel()
    return model


def _fcl_mesh(fcl: Any, mesh: Mesh) -> Any:
    model = fcl.BVHModel()
    model.beginModel(len(mesh.faces), len(mesh.vertices))
    model.addSubModel(mesh.vertices, mesh.faces)
    model.endModel()
    return model


RIVALS: dict[str, tuple[str, Callable[[Any, Placed, Placed], Ask]]] = {
    "coal": ("coal", _coal),
    "python-fcl": ("fcl", _fcl),
}
