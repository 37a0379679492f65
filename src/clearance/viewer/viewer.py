"""Things in the browser, live: to turn around, with joints to move and recordings to play.

It needs viser, trimesh and SciPy: `pip install clearance[view]`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from threading import Event, Lock
from typing import Any

from numpy.typing import ArrayLike

from ..mechanisms import Configuration
from ..surfaces import extra
from ..worlds import World
from .film import Film
from .saved_page import save_film, save_still
from .still import Floats, Options, Still
from .things import Things, sorted_things

__all__ = ["Viewer", "view"]

BLUE = (31, 79, 216)
_TURN = Lock()


def view(
    *things: Any,
    world: World = None,
    q: Configuration | None = None,
    closest: int = 5,
    near: float | None = None,
    colours: Mapping[str, str] | None = None,
    origins: ArrayLike | None = None,
    view_from: ArrayLike | None = None,
    title: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
) -> Viewer:
    """Show things in the browser: whoever opens the address of the viewer sees them, and what is done to them.

    Of a robot there are sliders for the joints, and the closest pairs are measured while these move. Recordings play.
    The program goes on; `wait` makes it stay.

    Parameters
    ----------
    things : anything that can be shown
        Shapes, placed or not, scenes, a robot, gaps, contacts, swept volumes, hits of rays, scans, depth images, a
        simulated world, particles, recordings; and lists and mappings of them. Those of a mapping have its keys for
        names. Up to 100 shapes that are given one by one are watched against each other. Bodies beside a robot are part
        of its world. A recording, or particles, are shown alone.
    world : Scene, shapes or None
        What surrounds the robot.
    q : array_like, (dof,), or mapping of str to float, optional
        Where the robot is at first; `neutral` unless given.
    closest : int
        How many of the closest pairs are shown.
    near : float, optional
        In metres: bodies are the redder the nearer they are to others, below this; 0 leaves their colours as they are.
        Unless given, it is 0.1 for the links of a robot, and 0 for everything else.
    colours : mapping of str to str, optional
        Of some bodies, like "#d6001c"; others keep theirs.
    origins : array_like, (..., 3), optional
        Where the rays of `Hits` start, which do not know it; without, only their ends are shown.
    view_from : array_like, (3,), optional
        The direction from the things towards the viewer; z is up.
    title : str, optional
    host : str
        The address to listen at; only programs of this machine reach the usual one.
    port : int
        The first one that is free from here on is taken; 0 takes any.

    Returns
    -------
    Viewer

    Examples
    --------
    >>> from clearance import samples
    >>> viewer = view(samples.arm(), world=samples.arm_cell(), q=samples.arm_path()[0])  # doctest: +SKIP
    >>> viewer.url  # doctest: +SKIP
    'http://127.0.0.1:8080'
    >>> viewer.move(samples.arm_path()[1])  # doctest: +SKIP
    >>> viewer.save("arm.html")  # doctest: +SKIP
    >>> viewer.close()  # doctest: +SKIP
    """
    viser = extra("viser")
    options = Options(closest, near, colours, view_from)
    found = sorted_things(things, world, origins)
    _check_address(host, port)
    with _quiet():
        server = viser.ViserServer(host=host, port=port, label=title or "clearance", verbose=False)
    # Nobody gets at this machine from outside by a button, nor by a message.
    server.request_share_url = server.disconnect_share_url = lambda *_, **__: None
    server.gui.main_panel.dock_right()
    server.gui.configure_theme(control_width="large", show_logo=False, show_share_button=False, brand_color=BLUE)
    server.scene.configure_default_lights(cast_shadow=False)
    try:
        shown = Still(server, found, q, options) if found.film is None else Film(server, found.film, options)
    except BaseException:
        with _quiet():
            server.stop()
        raise
    return Viewer(server, shown, things, lambda those: sorted_things(those, world, origins), title)


class Viewer:
    """Things in the browser, until it is closed; `view` makes it. It is a context manager.

    Attributes
    ----------
    url : str
        Where to see them.
    server : viser.ViserServer
        To add more to what is shown.

    Examples
    --------
    >>> with view(Sphere(1.0), Box([1.0, 1.0, 1.0]).at([3.0, 0.0, 0.0]), port=0) as viewer:  # doctest: +SKIP
    ...     viewer.save("two.html")
    """

    def __init__(
        self,
        server: Any,
        shown: Still | Film,
        things: tuple[Any, ...],
        sort: Callable[[tuple[Any, ...]], Things],
        title: str | None,
    ) -> None:
        self.server = server
        self.url = f"http://{server.get_host()}:{server.get_port()}"
        self._shown, self._things, self._sort, self._title = shown, things, sort, title
        self._is_closed = Event()

    @property
    def q(self) -> Floats:
        """The configuration of the robot, as sliders or `move` have left it, (dof,)."""
        return self._still("q").q.copy()

    def move(self, q: Configuration) -> None:
        """Move the robot; the sliders follow.

        Parameters
        ----------
        q : array_like, (dof,), or mapping of str to float
        """
        self._still("move").move(q)

    @property
    def time(self) -> float:
        """The time of a recording that is shown, in seconds."""
        return self._film("time").time

    def seek(self, seconds: float) -> None:
        """Show what a recording has of a time.

        Parameters
        ----------
        seconds : float
        """
        self._film("seek").seek(seconds)

    def play(self) -> None:
        """Play a recording, from its beginning if it is at its end."""
        self._film("play").play()

    def pause(self) -> None:
        """Stop playing."""
        self._film("pause").play(False)

    def update(self, *things: Any) -> None:
        """Look at the things again, after they have moved; or look at others.

        Parameters
        ----------
        things : anything that can be shown
            Those that were given last unless there are any. The robot must be the same one.
        """
        self._things = things or self._things
        self._shown.change(self._sort(self._things))

    def save(self, path: str | PathLike[str]) -> None:
        """Write what is shown as one page that opens from a file, without a network.

        Parameters
        ----------
        path : path_like
            A robot stands still there; recordings play.
        """
        if isinstance(self._shown, Film):
            save_film(self._shown, path, self._title)
        else:
            save_still(self._shown, path, self._title)

    def wait(self) -> None:
        """Stay until the viewer is closed by another thread, or the program is interrupted by Ctrl+C."""
        print(f"Open {self.url} to look; Ctrl+C ends it.")
        try:
            while not self._is_closed.wait(0.5):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """End the viewer; its port is free again."""
        if self._is_closed.is_set():
            return
        self._is_closed.set()
        if isinstance(self._shown, Film):
            self._shown.close()
        with _quiet():
            self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Viewer({self.url}{', closed' if self._is_closed.is_set() else ''})"

    def _still(self, wish: str) -> Still:
        if not isinstance(self._shown, Still) or self._shown.things.robot is None:
            raise TypeError(f"{wish} is for a robot, but none is shown.")
        return self._shown

    def _film(self, wish: str) -> Film:
        if not isinstance(self._shown, Film):
            raise TypeError(f"{wish} is for a recording, but none is shown.")
        return self._shown


def _check_address(host: str, port: int) -> None:
    """Refuse what cannot be listened at: the server would look for a free port for ever."""
    if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port < 2**16:
        raise ValueError(f"port must be a number from 0 to 65535, but it is {port!r}.")
    try:
        family = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            listener.bind((host, 0))
    except OSError as error:
        raise ValueError(f"host must be an address of this machine, but it is {host!r}: {error}.") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the server from printing, which it does with rich, whatever it is told. Threads take turns."""
    console = extra("rich").get_console()
    with _TURN:
        before, console.quiet = console.quiet, True
        try:
            yield
        finally:
            console.quiet = before
