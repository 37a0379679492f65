"""Soft contacts: bodies sink by their weight over the stiffness, and swing as damped oscillators."""

import numpy as np
import pytest

import clearance as cl
from clearance import simulation as sim
from physics import G, force_on, place, seconds, world_on_ground


@pytest.mark.parametrize("stiffness", [1e4, 1e5, 1e6])
def test_ball_sinks_into_a_soft_ground_by_its_weight_over_the_stiffness(stiffness):
    mass = 2.0
    world = world_on_ground(sim.Soft(stiffness=stiffness, damping=np.sqrt(stiffness * mass)))
    world.add("ball", cl.Sphere(0.1), [0, 0, 0.1], mass=mass)
    seconds(world, 3.0)
    sunk = mass * G / stiffness
    assert 0.1 - place(world, "ball")[2] == pytest.approx(sunk, rel=1e-3)
    assert world.contacts.depths == pytest.approx([sunk], rel=1e-3)
    assert np.allclose(force_on(world, "ball"), [0, 0, mass * G], rtol=0, atol=1e-3 * mass * G)
    assert world.energy.elastic == pytest.approx(stiffness * sunk**2 / 2, rel=1e-2)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5])
def test_soft_ground_is_a_damped_oscillator(share):
    """A ball let go where it touches sinks and rises about m g / k: a damped oscillator of its own frequency.

    Semi-implicit Euler shifts such a motion by half a step, implicit Euler damps it by w h / 2 per radian: both move
    the ball by less than w² h t / 2 of its swing.
    """
    mass, stiffness, step = 1.0, 1e4, 1e-5
    own = np.sqrt(stiffness / mass)
    damping = 2 * share * np.sqrt(stiffness * mass)
    world = world_on_ground(sim.Soft(stiffness=stiffness, damping=damping), step=step)
    world.add("ball", cl.Sphere(0.1), [0, 0, 0.1], mass=mass)
    swing, ringing, period = mass * G / stiffness, own * np.sqrt(1 - share**2), 2 * np.pi / own
    for _ in range(12):
        world.step(round(period / 12 / step))
        t = world.time
        decay = np.exp(-share * own * t) * (np.cos(ringing * t) + share * own / ringing * np.sin(ringing * t))
        sunk = swing * (1 - decay)
        assert 0.1 - place(world, "ball")[2] == pytest.approx(sunk, abs=swing * own**2 * step * (t / 2 + 1 / own))


def test_materials_carry_springs_of_their_own():
    """Two springs one after the other give way twice as far."""
    world = world_on_ground(sim.Soft(stiffness=1e6), material=sim.Material(stiffness=2e4, damping=200.0))
    world.add("ball", cl.Sphere(0.1), [0, 0, 0.1], mass=1.0, material=sim.Material(stiffness=2e4, damping=200.0))
    seconds(world, 3.0)
    assert 0.1 - place(world, "ball")[2] == pytest.approx(G / 1e4, rel=1e-3)
