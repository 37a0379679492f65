"""What is attached must not clash with names of joints, and a single name is not its letters."""

import pickle

import clearance as cl


def robot():
    turn = cl.Joint("rod (attached)", "revolute", "base", "tool")
    return cl.Robot([cl.Link("base", cl.Sphere(0.1)), cl.Link("tool", cl.Sphere(0.1))], [turn])


def test_joint_of_the_name_that_an_attached_object_would_have():
    one = robot()
    one.attach("tool", "rod", cl.Capsule(0.01, 0.5))
    assert pickle.loads(pickle.dumps(one)).link_names == ["base", "tool", "rod"]


def test_touching_takes_one_name():
    one = robot()
    one.attach("tool", "rod", cl.Capsule(0.01, 0.5), touching="base")
    assert one.is_allowed("rod", "base")
