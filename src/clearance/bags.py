"""Scans in ROS 2 bags, without ROS: `pip install clearance[ros]`."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

from .scanner import Scan

__all__ = ["BagWriter"]

VERSION = 9  # of the bag format


class BagWriter:
    """A ROS 2 bag that scans are written to: those of one row as `LaserScan`, grids as `PointCloud2`.

    Parameters
    ----------
    path : str or Path
        A folder that does not exist yet.

    Examples
    --------
    >>> scanner = LaserScanner(beams=9, fov=1.0)
    >>> with BagWriter("drive") as bag:
    ...     for k in range(3):
    ...         bag.write("/scan", scanner.scan(Sphere(0.5).at([2.0, 0.0, 0.0]), time=k * scanner.period))
    >>> bag.count
    3
    """

    def __init__(self, path: str | Path) -> None:
        rosbag2, typesys = _rosbags()
        if Path(path).exists():
            raise FileExistsError(f"{path} is there already; a bag is written to a new folder.")
        self._types = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
        self._writer = rosbag2.Writer(Path(path), version=VERSION)
        self._topics: dict[str, tuple[str, Any]] = {}
        self.count = 0

    def __enter__(self) -> BagWriter:
        self._writer.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    def write(self, topic: str, scan: Scan) -> None:
        """Write a scan under its stamp.

        Parameters
        ----------
        topic : str
            All scans of a topic have one row, or all are grids.
        scan : Scan
        """
        if scan.ranges.ndim == 1:
            kind, fields = "sensor_msgs/msg/LaserScan", scan.to_message()
        else:
            kind, fields = "sensor_msgs/msg/PointCloud2", scan.to_point_cloud()
        if topic not in self._topics:
            connection = self._writer.add_connection(topic, kind, typestore=self._types)
            self._topics[topic] = kind, connection
        known, connection = self._topics[topic]
        if known != kind:
            raise ValueError(f"topic '{topic}' holds {known}, but this scan is a {kind}.")
        stamp = fields["header"]["stamp"]
        nanoseconds = 10**9 * stamp["sec"] + stamp["nanosec"]
        self._writer.write(connection, nanoseconds, self._types.serialize_cdr(self._message(kind, fields), kind))
        self.count += 1

    def _message(self, kind: str, fields: dict[str, Any]) -> Any:
        """Make messages of dictionaries, also of those within."""
        types = self._types.types
        made = dict(fields)
        stamp = types["builtin_interfaces/msg/Time"](**fields["header"]["stamp"])
        made["header"] = types["std_msgs/msg/Header"](stamp=stamp, frame_id=fields["header"]["frame_id"])
        if "fields" in fields:
            made["fields"] = [types["sensor_msgs/msg/PointField"](**field) for field in fields["fields"]]
        return types[kind](**made)


def _rosbags() -> tuple[Any, Any]:
    try:
        from rosbags import rosbag2, typesys
    except ImportError as error:
        raise ImportError("bags need rosbags; get it with: pip install clearance[ros]") from error
    return rosbag2, typesys
