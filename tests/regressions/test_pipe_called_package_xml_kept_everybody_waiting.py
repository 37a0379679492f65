"""Only a file is opened to see what a package calls itself."""

import os

import pytest

import clearance as cl

URDF = '<robot name="a"><link name="l"><collision><geometry><mesh filename="package://p/m.obj"/></geometry></collision></link></robot>'


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
@pytest.mark.timeout(20)
def test_pipe_is_passed_over(tmp_path):
    os.mkfifo(tmp_path / "package.xml")
    (tmp_path / "robot.urdf").write_text(URDF)
    with pytest.raises((FileNotFoundError, ValueError), match=r"m\.obj"):
        cl.Robot.from_urdf(tmp_path / "robot.urdf")
