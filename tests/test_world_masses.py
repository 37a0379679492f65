"""Mass, centre of mass and inertia of every shape, measured by pushing: what a world believes is what it does."""

import numpy as np
import pytest

import clearance as cl
from physics import CORNERS, SHAPES, X, Y, Z, floating
from solids import hull_of
from strategies import rigid_motions

trimesh = pytest.importorskip("trimesh", reason="the oracle of masses is trimesh, of the extra 'view'")

DENSITY = 700.0
POSE = rigid_motions(np.random.default_rng(0), 1)[0]


def measured(shape, **given):
    """Return mass, centre and inertia about it, in the frame of the shape, as kicks and twists reveal them.

    A kick J at a point p gives v = J / m and w = inverse(I) (p - c) x J. Kicks through the origin of the frame along
    the axes give the mass, pairs of opposite kicks an arm apart the inertia, single ones the centre.
    """

    def response(*kicks):
        world = floating()
        world.add("body", shape, POSE, **given)
        for impulse, at in kicks:
            world.kick("body", POSE[:3, :3] @ impulse, at=POSE[:3, :3] @ at + POSE[:3, 3])
        velocity = world.velocity("body")
        return POSE[:3, :3].T @ velocity[:3], POSE[:3, :3].T @ velocity[3:]

    mass = 1 / response((X, np.zeros(3)))[0][0]
    # The pair (J at a, -J at -a) is a pure twist 2 a x J about the remaining axis.
    twists = [response((j, a), (-j, -a))[1] / 2 for a, j in ((Y, Z), (Z, X), (X, Y))]
    inertia = np.linalg.inv(np.array(twists).T)
    # A kick J through the origin turns by -c x J; three kicks overdetermine c.
    moments = [inertia @ response((axis, np.zeros(3)))[1] for axis in (X, Y, Z)]
    rows = np.vstack([cross_matrix(axis) for axis in (X, Y, Z)])
    centre = np.linalg.lstsq(rows, np.hstack(moments), rcond=None)[0]
    return mass, centre, inertia


def cross_matrix(v):
    """Return the matrix of c -> v x c."""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def shifted(inertia, mass, offset):
    """Return an inertia about a point `offset` away from the centre of mass."""
    return inertia + mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))


def assert_same(found, expected, tolerance=1e-9):
    """Compare masses, centres and inertias, relative to the size that mass and inertia speak of."""
    size = np.sqrt(np.trace(expected[2]) / expected[0])
    assert found[0] == pytest.approx(expected[0], rel=tolerance)
    assert np.allclose(found[1], expected[1], rtol=0, atol=tolerance * size)
    assert np.allclose(found[2], expected[2], rtol=0, atol=tolerance * np.trace(expected[2]))


def of_mesh(vertices, density=DENSITY):
    """Return mass, centre and inertia of the convex hull of points, by trimesh."""
    hull = trimesh.convex.convex_hull(vertices)
    hull.density = density
    return hull.mass, hull.center_mass, hull.moment_inertia


# Closed forms --------------------------------------------------------------------------------------------------------


def sphere(r):
    mass = DENSITY * 4 / 3 * np.pi * r**3
    return mass, np.zeros(3), 0.4 * mass * r**2 * np.eye(3)


def box(a, b, c):
    mass = DENSITY * a * b * c
    return mass, np.zeros(3), mass / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])


def cylinder(r, length):
    mass = DENSITY * np.pi * r**2 * length
    across = mass * (3 * r**2 + length**2) / 12
    return mass, np.zeros(3), np.diag([across, across, mass * r**2 / 2])


def capsule(r, length):
    ball, (tube, _, turning) = DENSITY * 4 / 3 * np.pi * r**3, cylinder(r, length)
    # The half balls lie with their centres of mass 3 r / 8 outside of the ends.
    across = ball * (0.4 * r**2 + length**2 / 4 + 3 * length * r / 8)
    return ball + tube, np.zeros(3), turning + np.diag([across, across, 0.4 * ball * r**2])


def cone(r, length):
    mass = DENSITY * np.pi * r**2 * length / 3
    across = mass * (3 * r**2 / 20 + 3 * length**2 / 80)
    return mass, -length / 4 * Z, np.diag([across, across, 0.3 * mass * r**2])


def ellipsoid(a, b, c):
    mass = DENSITY * 4 / 3 * np.pi * a * b * c
    return mass, np.zeros(3), mass / 5 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])


CLOSED_FORMS = {
    "sphere": (cl.Sphere(0.3), sphere(0.3)),
    "box": (cl.Box([0.4, 0.5, 0.6]), box(0.4, 0.5, 0.6)),
    "flat box": (cl.Box([2.0, 3.0, 1e-3]), box(2.0, 3.0, 1e-3)),
    "cylinder": (cl.Cylinder(0.25, 0.5), cylinder(0.25, 0.5)),
    "disc": (cl.Cylinder(0.25, 0.01), cylinder(0.25, 0.01)),
    "capsule": (cl.Capsule(0.2, 0.5), capsule(0.2, 0.5)),
    "cone": (cl.Cone(0.3, 0.6), cone(0.3, 0.6)),
    "ellipsoid": (cl.Ellipsoid([0.2, 0.3, 0.4]), ellipsoid(0.2, 0.3, 0.4)),
    "hull": (cl.ConvexHull(CORNERS), of_mesh(CORNERS)),
    "hull of a box": (
        cl.ConvexHull(cl.Box([0.4, 0.5, 0.6]).size / 2 * np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T),
        box(0.4, 0.5, 0.6),
    ),
}


@pytest.mark.parametrize(("shape", "expected"), CLOSED_FORMS.values(), ids=CLOSED_FORMS)
def test_every_shape_has_the_mass_and_inertia_of_its_closed_form(shape, expected):
    assert_same(measured(shape, density=DENSITY), expected)


@pytest.mark.parametrize("name", SHAPES)
def test_mass_properties_agree_with_points_drawn_inside(name):
    """Of n points drawn in a box around the body about 1 in sqrt(n) of those inside falls on the wrong side."""
    shape, rng = SHAPES[name], np.random.default_rng(1)
    points = rng.uniform(-1.0, 1.0, (150_000, 3))
    inside = points[cl.collides(shape, cl.SweptPoint([0, 0, 0], 0.0).at(cl.poses.from_translation(points)))]
    share = len(inside) / len(points)
    error = 5 * np.sqrt(1 / len(inside))
    centre = inside.mean(axis=0)
    mass = DENSITY * 8 * share
    if isinstance(shape, cl.Compound):
        mass, centre, inertia = overlap_counts_twice(shape)
    else:
        away = inside - centre
        inertia = mass * (np.mean(np.sum(away**2, axis=1)) * np.eye(3) - away.T @ away / len(inside))
    assert_same(measured(shape, density=DENSITY), (mass, centre, inertia), error)


def overlap_counts_twice(shape):
    """Return what the parts of a compound weigh together: where they overlap, masses add."""
    parts = [measured(part.shape, density=DENSITY) for part in shape.parts]
    rotations = [part.pose[:3, :3] for part in shape.parts]
    centres = [part.pose[:3, :3] @ c + part.pose[:3, 3] for part, (_, c, _) in zip(shape.parts, parts, strict=True)]
    masses = np.array([mass for mass, _, _ in parts])
    centre = masses @ centres / masses.sum()
    inertia = sum(
        shifted(r @ i @ r.T, m, c - centre) for r, c, (m, _, i) in zip(rotations, centres, parts, strict=True)
    )
    return masses.sum(), centre, inertia


# Swept hulls ---------------------------------------------------------------------------------------------------------


def steiner_volume(points, radius):
    """Return the volume of a swept hull: V + A r + M r² + 4/3 pi r³, M half the edge lengths by their angles."""
    hull = trimesh.convex.convex_hull(points)
    edges = hull.vertices[hull.face_adjacency_edges]
    lengths = np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1)
    mean_curvature = lengths @ hull.face_adjacency_angles / 2
    return hull.volume + hull.area * radius + mean_curvature * radius**2 + 4 / 3 * np.pi * radius**3


@pytest.mark.parametrize("radius", [1e-3, 0.1, 2.0])
def test_volume_of_a_swept_hull_is_that_of_steiner(radius):
    mass = measured(cl.ConvexHull(CORNERS, radius), density=DENSITY)[0]
    assert mass == pytest.approx(DENSITY * steiner_volume(CORNERS, radius), rel=1e-9)


@pytest.mark.parametrize("radius", [0.02, 0.1, 1.0])
@pytest.mark.parametrize("core", [CORNERS, CORNERS[:3], CORNERS[:2]], ids=["hull", "triangle", "segment"])
def test_swept_hulls_weigh_as_fine_hulls_do(core, radius):
    """A hull of n directions around each corner lacks a share of order 1/n; two of them give the limit, or nearly."""

    def fine(subdivisions):
        ball = radius * trimesh.creation.icosphere(subdivisions).vertices
        return of_mesh((core[:, None] + ball).reshape(-1, 3))

    coarse, finer = fine(4), fine(5)
    limit = [(4 * b - a) / 3 for a, b in zip(coarse, finer, strict=True)]
    assert_same(measured(cl.ConvexHull(core, radius), density=DENSITY), limit, limit[0] / finer[0] - 1)


def test_capsule_off_centre_is_a_capsule():
    found = measured(cl.SweptSegment([1.0, 2.0, 3.0], [1.0, 2.0, 3.5], 0.2), density=DENSITY)
    mass, _, inertia = capsule(0.2, 0.5)
    assert_same(found, (mass, np.array([1.0, 2.0, 3.25]), inertia))


def test_hull_far_from_its_frame_keeps_its_inertia():
    mass, centre, inertia = of_mesh(CORNERS)
    found = measured(cl.ConvexHull(CORNERS + 100.0 * X), density=DENSITY)
    # Kicks act at the origin of the frame, a hundred metres away: digits of the oracle go with its square.
    assert_same(found, (mass, centre + 100.0 * X, inertia), 1e-6)


# Compounds -----------------------------------------------------------------------------------------------------------


def test_dumbbell():
    mass, _, inertia = sphere(0.2)
    found = measured(cl.Compound([cl.Sphere(0.2).at([1.0, 0, 0]), cl.Sphere(0.2).at([-0.5, 0, 0])]), density=DENSITY)
    assert_same(found, (2 * mass, 0.25 * X, 2 * shifted(inertia, mass, 0.75 * X)))


def test_box_cut_into_turned_parts_is_the_box():
    quarter = cl.poses.from_axis_angle(Z, np.pi / 2)
    quarter[:3, 3] = [-0.1, 0.05, 0.0]
    parts = [cl.Box([0.2, 0.5, 0.6]).at([0.1, 0.05, 0.0]), cl.Box([0.5, 0.2, 0.6]).at(quarter)]
    mass, _, inertia = box(0.4, 0.5, 0.6)
    assert_same(measured(cl.Compound(parts), density=DENSITY), (mass, 0.05 * Y, inertia))


def test_parts_may_overlap_and_weigh_twice():
    twice = cl.Compound([cl.Sphere(0.3), cl.Sphere(0.3)])
    mass, centre, inertia = sphere(0.3)
    assert_same(measured(twice, density=DENSITY), (2 * mass, centre, 2 * inertia))


# What is given instead -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
def test_mass_scales_what_the_density_gave(name):
    mass, centre, inertia = measured(SHAPES[name], density=DENSITY)
    assert_same(measured(SHAPES[name], mass=3.0), (3.0, centre, 3.0 / mass * inertia))
    assert_same(measured(SHAPES[name]), (1000.0 / DENSITY * mass, centre, 1000.0 / DENSITY * inertia))


def test_inertia_is_taken_as_it_is_given():
    given = np.array([[3.0, 0.1, 0.2], [0.1, 4.0, 0.3], [0.2, 0.3, 5.0]])
    mass, centre, inertia = measured(cl.Cone(0.3, 0.6), mass=2.0, inertia=given)
    assert_same((mass, centre, inertia), (2.0, -0.15 * Z, given))


def test_world_tells_the_mass():
    world = floating()
    world.add("ball", cl.Sphere(0.3), density=DENSITY)
    assert world.mass("ball").mass == pytest.approx(sphere(0.3)[0], rel=1e-12)


@pytest.mark.parametrize("flat", [cl.ConvexHull([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), cl.SweptSegment([0, 0, 0], X, 0.0)])
def test_bodies_without_volume_are_refused_unless_their_inertia_is_given(flat):
    with pytest.raises(ValueError, match=r"volume|mass|inertia"):
        floating().add("sheet", flat)
    floating().add("sheet", flat, mass=1.0, inertia=np.eye(3))


@pytest.mark.parametrize(
    "inertia",
    [
        -np.eye(3),
        np.zeros((3, 3)),
        np.diag([1.0, 1.0, 3.0]),
        np.eye(3) + np.triu(np.ones((3, 3)), 1),
        np.full((3, 3), np.nan),
    ],
    ids=["negative", "zero", "beyond the triangle inequality", "not symmetric", "not a number"],
)
def test_impossible_inertias_are_refused(inertia):
    with pytest.raises(ValueError, match="inertia"):
        floating().add("body", cl.Sphere(0.3), mass=1.0, inertia=inertia)


def test_volume_of_the_hull_of_the_oracle():
    """The oracle itself: SciPy and trimesh agree on the hull of the corners."""
    assert of_mesh(CORNERS)[0] == pytest.approx(DENSITY * hull_of(CORNERS).volume, rel=1e-12)
