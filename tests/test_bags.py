"""Scans in ROS 2 bags: what is written is what any reader of bags reads."""

import numpy as np
import pytest

import clearance as cl
from clearance import bags

pytest.importorskip("rosbags", reason="bags need the extra 'ros'")
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore

SCALARS = ("angle_min", "angle_max", "angle_increment", "time_increment", "scan_time", "range_min", "range_max")


def scans(count=5, **options):
    scanner = cl.LaserScanner(31, 2.0, rate=10.0, noise=cl.Noise(dropout=0.1), range_min=0.5, **options)
    return [scanner.scan(cl.Sphere(1.0).at([4.0 - k, 0, 0]), time=7.0 + k * scanner.period) for k in range(count)]


def read(path):
    """Return topics, times and messages of a bag."""
    types = get_typestore(Stores.ROS2_JAZZY)
    with Reader(path) as reader:
        return [
            (connection.topic, time, types.deserialize_cdr(raw, connection.msgtype))
            for connection, time, raw in reader.messages()
        ]


def write(path, topics):
    with bags.BagWriter(path) as bag:
        for topic, taken in topics.items():
            for scan in taken:
                bag.write(topic, scan)
    return bag


def test_scans_are_read_as_they_were_written(tmp_path):
    taken = scans()
    assert write(tmp_path / "bag", {"/scan": taken}).count == 5
    found = read(tmp_path / "bag")
    assert len(found) == 5
    for (topic, time, message), scan in zip(found, taken, strict=True):
        assert topic == "/scan"
        assert message.__msgtype__ == "sensor_msgs/msg/LaserScan"
        assert time == round(scan.stamp * 1e9)
        assert message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec == pytest.approx(scan.stamp)
        assert message.header.frame_id == "laser"
        assert np.array_equal(message.ranges, scan.ranges, equal_nan=True)
        assert len(message.intensities) == 0
        for name in SCALARS:
            assert getattr(message, name) == pytest.approx(getattr(scan, name), rel=1e-6)
        assert round((message.angle_max - message.angle_min) / message.angle_increment) + 1 == len(message.ranges)
    kinds = {kind for scan in taken for kind in np.unique(np.sign(scan.ranges[~np.isfinite(scan.ranges)]))}
    assert {-1.0, 1.0} <= kinds  # too near and no return survive


def test_grids_are_read_as_clouds(tmp_path):
    taken = scans(rows=4, vertical_fov=0.4)
    write(tmp_path / "bag", {"/cloud": taken})
    for (_, _, message), scan in zip(read(tmp_path / "bag"), taken, strict=True):
        assert message.__msgtype__ == "sensor_msgs/msg/PointCloud2"
        assert [field.name for field in message.fields] == ["x", "y", "z"]
        points = message.data.view("<f4").reshape(message.height, message.width, 3)
        seen = np.isfinite(scan.ranges)
        assert np.array_equal(np.isfinite(points[..., 0]), seen)
        np.testing.assert_allclose(points[seen], scan.points[seen], atol=1e-5)


def test_several_topics_share_a_bag_and_messages_come_in_order_of_time(tmp_path):
    write(tmp_path / "bag", {"/front": scans(), "/cloud": scans(rows=2, vertical_fov=0.1)})
    found = read(tmp_path / "bag")
    assert {topic for topic, _, _ in found} == {"/front", "/cloud"}
    times = [time for _, time, _ in found]
    assert times == sorted(times)
    assert len(times) == 10


def test_topic_holds_one_kind_of_message(tmp_path):
    with pytest.raises(ValueError, match="/scan"):
        write(tmp_path / "bag", {"/scan": [*scans(1), *scans(1, rows=2, vertical_fov=0.1)]})


def test_bags_are_not_overwritten(tmp_path):
    with pytest.raises(FileExistsError, match="new folder"):
        bags.BagWriter(tmp_path)
