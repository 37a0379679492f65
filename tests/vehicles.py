"""Vehicles that do what a braking model allows, simulated: slow and obvious."""

import numpy as np

import clearance as cl

BOX = [[-0.5, -0.3], [0.5, -0.3], [0.5, 0.3], [-0.5, 0.3]]
FOOTPRINTS = {
    "box": BOX,
    "off centre": [[-0.2, -0.4], [1.3, -0.4], [1.5, 0.0], [1.3, 0.4], [-0.2, 0.4]],
    "disc": [([[0.1, 0.0]], 0.35)],
    "rounded": [([[-0.4, 0.0], [0.4, 0.1]], 0.2)],
    "fork": [BOX, ([[0.5, -0.25], [1.1, -0.25]], 0.05), ([[0.5, 0.25], [1.1, 0.25]], 0.05)],
}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)


def model(path="arc", latency=0.1, acceleration=(1.5, 1.0, 3.0), deceleration=(2.0, 2.5, 3.0), **more):
    return cl.VehicleBraking(path=path, latency=latency, acceleration=acceleration, deceleration=deceleration, **more)


def outline(footprint, per_side=2):
    """Points of the boundary of a footprint: (points, 2)."""
    found = []
    parts = footprint if isinstance(footprint[0], tuple) or np.ndim(footprint[0]) != 1 else [footprint]
    for part in parts:
        points, radius = part if isinstance(part, tuple) else (part, 0.0)
        points = np.asarray(points, dtype=float)
        along = np.linspace(0.0, 1.0, per_side)[:, None]
        sides = np.concatenate([a + along * (b - a) for a, b in zip(points, np.roll(points, -1, axis=0), strict=True)])
        angles = np.linspace(0.0, 2.0 * np.pi, 8 if radius else 1, endpoint=False)
        circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        found.append((sides[:, None] + circle).reshape(-1, 2))
    return np.concatenate(found)


def ways(rng, braking, velocity, count, command=None):
    """Draw twists over time that a model allows: times (count, n) and twists (count, n, 3), linear in between."""
    times, twists = [], []
    for _ in range(count):
        t, v = _latency(rng, braking, np.asarray(velocity, dtype=float), command)
        if braking.path == "arc":
            times_of, twists_of = _arc(rng, braking, t, v)
        else:
            times_of, twists_of = _each(rng, braking, t, v, may_be_early=command is None)
        times.append(times_of)
        twists.append(twists_of)
    most = max(map(len, times))
    pad = [most - len(t) for t in times]
    return (
        np.stack([np.concatenate([t, np.full(n, t[-1])]) for t, n in zip(times, pad, strict=True)]),
        np.stack([np.concatenate([v, np.repeat(v[-1:], n, axis=0)]) for v, n in zip(twists, pad, strict=True)]),
    )


def _latency(rng, braking, velocity, command):
    """Full acceleration one way, or the other, or one after the other, or anything."""
    switches = rng.integers(0, 4)
    times = np.concatenate([[0.0], np.sort(rng.uniform(0.0, braking.latency, switches)), [braking.latency]])
    kind = rng.integers(0, 3)
    rates = rng.choice([-1.0, 1.0], size=(switches + 1, 3))
    if kind == 1:
        rates = rng.uniform(-1.0, 1.0, size=rates.shape)
    if kind == 2:
        rates = np.repeat(rng.choice([-1.0, 0.0, 1.0], size=(1, 3)), switches + 1, axis=0)
    middle, width = (0.0, braking.acceleration) if command is None else (np.asarray(command), braking.command_error)
    changes = (middle + width * rates) * np.diff(times)[:, None]
    return times, velocity + np.concatenate([np.zeros((1, 3)), np.cumsum(changes, axis=0)])


def _falling(rng, longest):
    """Factors that fall from 1 to 0, nowhere slower than in the longest time."""
    times, factors = [0.0], [1.0]
    for harder in 1.0 + np.where(rng.random(3) < 0.6, 0.0, rng.exponential(1.0, 3)):
        step = factors[-1] * longest / harder * (1.0 if len(times) == 3 else rng.random())
        times.append(times[-1] + step)
        factors.append(max(0.0, factors[-1] - step * harder / longest) if longest > 0.0 else 0.0)
    return np.array(times), np.array([*factors[:-1], 0.0])


def _arc(rng, braking, times, twists):
    longest = np.max(np.abs(twists[-1]) / braking.deceleration)
    more, factors = _falling(rng, longest)
    return np.concatenate([times, times[-1] + more]), np.concatenate([twists, factors[:, None] * twists[-1]])


def _each(rng, braking, times, twists, may_be_early):
    """Every component for itself, sometimes before the latency is over."""
    starts = np.where(may_be_early & (rng.random(3) < 0.3), rng.uniform(0.0, times[-1], 3), times[-1])
    curves = []
    for k in range(3):
        first = np.interp(starts[k], times, twists[:, k])
        more, factors = _falling(rng, abs(first) / braking.deceleration[k])
        kept = times < starts[k]
        curves.append(
            (np.concatenate([times[kept], starts[k] + more]), np.concatenate([twists[kept, k], factors * first]))
        )
    joint = np.unique(np.concatenate([t for t, _ in curves]))
    return joint, np.stack([np.interp(joint, t, v, right=0.0) for t, v in curves], axis=1)


def poses_along(times, twists, pose=(0.0, 0.0, 0.0), steps=5):
    """Integrate twists that are linear in between: poses (count, n, 3) and when."""
    fractions = np.arange(steps) / steps
    spans = np.diff(times, axis=1)[:, :, None]
    fine = (times[:, :-1, None] + spans * fractions).reshape(len(times), -1)
    fine_twists = (twists[:, :-1, None] + np.diff(twists, axis=1)[:, :, None] * fractions[None, None, :, None]).reshape(
        len(times), -1, 3
    )
    fine = np.concatenate([fine, times[:, -1:]], axis=1)
    fine_twists = np.concatenate([fine_twists, twists[:, -1:]], axis=1)

    step, first, change = np.diff(fine, axis=1), fine_twists[:, :-1], np.diff(fine_twists, axis=1)
    at = 0.5 + 0.5 * NODES
    turns = step * (first[..., 2] + 0.5 * change[..., 2])
    yaw = pose[2] + np.concatenate([np.zeros((len(fine), 1)), np.cumsum(turns, axis=1)], axis=1)
    yaws = yaw[:, :-1, None] + step[..., None] * (first[..., 2:] * at + 0.5 * change[..., 2:] * at**2)
    speeds = (first[..., 0, None] + change[..., 0, None] * at) + 1j * (first[..., 1, None] + change[..., 1, None] * at)
    moves = step * (np.exp(1j * yaws) * speeds * 0.5 * WEIGHTS).sum(axis=-1)
    place = pose[0] + 1j * pose[1] + np.concatenate([np.zeros((len(fine), 1)), np.cumsum(moves, axis=1)], axis=1)
    return np.stack([place.real, place.imag, yaw], axis=-1), fine


def placed(points, poses):
    """Points of a body (m, 2) at poses (..., 3): (..., m, 2)."""
    at = poses[..., 0] + 1j * poses[..., 1]
    moved = at[..., None] + np.exp(1j * poses[..., 2])[..., None] * (points[:, 0] + 1j * points[:, 1])
    return np.stack([moved.real, moved.imag], axis=-1)


def distance_to(hull, points):
    """Signed distance of points (n, 2) to a rounded convex polygon, counterclockwise."""
    corners, radius = hull
    along = np.roll(corners, -1, axis=0) - corners
    lengths_sq = np.maximum((along**2).sum(axis=1), 1e-300)
    from_corners = points[:, None] - corners
    share = np.clip((from_corners * along).sum(axis=-1) / lengths_sq, 0.0, 1.0)
    outside = np.linalg.norm(from_corners - share[..., None] * along, axis=-1).min(axis=1)
    if len(corners) < 3:
        return outside - radius
    beyond = (from_corners[..., 0] * along[:, 1] - from_corners[..., 1] * along[:, 0]) / np.sqrt(lengths_sq)
    inside = beyond.max(axis=1)
    return np.where(inside <= 0.0, inside, outside) - radius


def outside_of(area, points):
    """How far points are outside of a union of rounded polygons; negative inside."""
    return np.min([distance_to(hull, points) for hull in area], axis=0)


def farthest_outside_of(area, points):
    """How far the farthest point is outside of a union; not above zero if none is."""
    for corners, radius in area:
        along = np.roll(corners, -1, axis=0) - corners
        if len(corners) > 2:  # most are inside of one of the polygons: no need to measure those
            normals = np.stack([along[:, 1], -along[:, 0]])
            points = points[(points @ normals > (corners * normals.T).sum(axis=1)).any(axis=1)]
        else:
            points = points[distance_to((corners, radius), points) > 0.0]
    return outside_of(area, points).max(initial=-np.inf)


def footprint_hulls(footprint):
    """The parts of a footprint as the guard has them when it stands still with nothing to fear."""
    still = cl.VehicleBraking(latency=0.0, acceleration=[0, 0, 0], deceleration=[1, 1, 1])
    guard = cl.VehicleGuard(footprint, [[1e3, 1e3]], braking=still, pieces=1)
    guard.update([0, 0, 0], [0, 0, 0])
    return guard.swept()


def distances(footprint, poses, point):
    """From a footprint at poses (n, 3) to a point of the world."""
    from_vehicle = (point[0] + 1j * point[1] - poses[:, 0] - 1j * poses[:, 1]) * np.exp(-1j * poses[:, 2])
    return outside_of(footprint_hulls(footprint), np.stack([from_vehicle.real, from_vehicle.imag], axis=1))
