"""What ranks of MPI tell each other while each simulates the particles of a box."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .cuts import Cuts

if TYPE_CHECKING:
    from .. import _core

__all__ = ["Ranks", "agreed", "ended_together", "mpi"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

COLOURS = 8

Result = TypeVar("Result")


def mpi() -> Any:
    """Import MPI, or say how to get it.

    Returns
    -------
    module

    Examples
    --------
    >>> mpi().COMM_SELF.size
    1
    """
    try:
        from mpi4py import MPI
    except ImportError as error:
        raise ImportError("particles on many ranks need mpi4py; get it with: pip install clearance[mpi]") from error
    return MPI


def agreed(comm: Any, action: Callable[[], Result]) -> Result:
    """Do what each rank does by itself; if it fails on one of them, it fails on all.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
    action : callable
        Without any message to other ranks.

    Returns
    -------
    what `action` returns

    Examples
    --------
    >>> agreed(mpi().COMM_SELF, lambda: 3)
    3
    """
    failure: Exception | None = None
    try:
        result = action()
    except Exception as error:
        failure = error
    told = comm.allgather(None if failure is None else f"{type(failure).__name__}: {failure}")
    if failure is not None:
        raise failure
    for rank, message in enumerate(told):
        if message is not None:
            raise RuntimeError(f"rank {rank} failed: {message}")
    return result


def ended_together(comm: Any, action: Callable[[], Result]) -> Result:
    """Do what all ranks do with each other; whatever goes wrong on one of them ends all, who would wait for ever.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm or None
    action : callable

    Returns
    -------
    what `action` returns

    Examples
    --------
    >>> ended_together(None, lambda: 3)
    3
    """
    try:
        return action()
    except BaseException:
        if comm is not None and comm.size > 1:
            traceback.print_exc()
            sys.stderr.flush()
            comm.Abort(1)
        raise


class Ranks:
    """Partners of the particles of this rank, as the core asks for them.

    Parameters
    ----------
    comm : mpi4py.MPI.Comm
    core : _core.Particles
    threads : int

    Attributes
    ----------
    bytes_sent : int
        Of velocities, particles and contacts, to other ranks.
    messages : int
    """

    def __init__(self, comm: Any, core: _core.Particles, threads: int) -> None:
        self._mpi, self._core, self._threads = mpi(), core, threads
        self._comm = comm.Dup()  # messages of the caller's own do not mix with ours
        self._send: list[dict[int, Integers]] = [{} for _ in range(COLOURS)]
        self._receive: list[dict[int, Integers]] = [{} for _ in range(COLOURS)]
        self.bytes_sent = self.messages = 0

    def largest(self, mine: float) -> float:
        """Give the largest number of all ranks."""
        return float(self._comm.allreduce(mine, self._mpi.MAX))

    def rebuild(self, largest_ball: float | None = None, memories: Floats | None = None) -> None:
        """Cut space anew, bring particles and contacts where they belong, and look for pairs.

        Parameters
        ----------
        largest_ball : float, optional
            Of a build that was, to repeat it where particles were then; a new one unless given.
        memories : ndarray, (m, 14), optional
            Contacts that any rank remembers, to go with it.
        """
        core, me = self._core, self._comm.rank
        if largest_ball is None:
            core.lay_out(self.largest(core.give_room()))
            core.wrap()
        else:
            core.lay_out(largest_ball)
        cuts = Cuts.balanced(core.blocks(), core.everywhere(), self._comm.size, self._comm.allgather)
        kept = self._routed_memories(cuts, memories)
        core.take_apart()
        self._migrate(cuts)
        boxes = cuts.boxes
        seen = [core.near(box) if rank != me else np.empty(0, np.int64) for rank, box in enumerate(boxes)]
        records = core.records(False)
        core.add_records(self._swapped([records[which] for which in seen]), True)
        core.set_domain(boxes[me])
        core.find_pairs(kept, self._threads)
        self._plan_sharing(boxes)

    def share(self, colour: int) -> None:
        """Tell others what the blocks of a colour did to velocities.

        Parameters
        ----------
        colour : int
        """
        requests, incoming = [], []
        for rank, which in self._receive[colour].items():
            buffer = np.empty((len(which), 6))
            incoming.append((which, buffer))
            requests.append(self._comm.Irecv(buffer, rank, colour))
        outgoing = [(rank, self._core.read_velocities(which)) for rank, which in self._send[colour].items()]
        for rank, buffer in outgoing:
            requests.append(self._comm.Isend(buffer, rank, colour))
            self.bytes_sent += buffer.nbytes
            self.messages += 1
        self._mpi.Request.Waitall(requests)
        for which, buffer in incoming:
            self._core.write_velocities(which, buffer)

    def _swapped(self, rows: list[Any]) -> Any:
        """Send rows to each rank, and return all that they sent here."""
        width = rows[0].shape[1:]
        counts = np.array([row.size for row in rows])
        arriving = np.empty_like(counts)
        self._comm.Alltoall(counts, arriving)
        outgoing = np.ascontiguousarray(np.concatenate(rows))
        incoming = np.empty(arriving.sum(), dtype=outgoing.dtype)
        self._comm.Alltoallv([outgoing.ravel(), counts], [incoming, arriving])
        others = counts.sum() - counts[self._comm.rank]
        self.bytes_sent += int(others) * outgoing.itemsize
        self.messages += int(np.count_nonzero(counts)) - bool(counts[self._comm.rank])
        return incoming.reshape(-1, *width)

    def _routed_memories(self, cuts: Cuts, known: Floats | None) -> Floats:
        mine = self._core.memories() if known is None else known
        if known is None and self._core.is_built:
            owners = cuts.owners(self._core.blocks_of_memories())
            mine = self._swapped([mine[owners == rank] for rank in range(self._comm.size)])
        else:  # where they belong is not known any more
            mine = np.concatenate(self._comm.allgather(mine))
        return np.ascontiguousarray(mine[np.lexsort((mine[:, 1], mine[:, 0]))])

    def _migrate(self, cuts: Cuts) -> None:
        records = self._core.records(False)
        owners = cuts.owners(self._core.blocks())
        leaving = owners != self._comm.rank
        arriving = self._swapped([records[leaving & (owners == rank)] for rank in range(self._comm.size)])
        self._core.remove(np.sort(records[leaving, 0].astype(np.int64)))
        self._core.add_records(arriving, False)

    def _plan_sharing(self, boxes: list[Integers]) -> None:
        numbers = self._core.records(True)[:, 0].astype(np.int64)
        order = np.argsort(numbers)
        empty = np.empty(0, np.int64)
        seen = [self._core.near(box) if rank != self._comm.rank else empty for rank, box in enumerate(boxes)]
        for colour in range(COLOURS):
            is_touched = np.zeros(len(numbers), dtype=bool)
            is_touched[self._core.touched(colour)] = True
            sent = [which[is_touched[which]] for which in seen]
            told = self._comm.alltoall([numbers[which] for which in sent])
            self._send[colour] = {rank: which for rank, which in enumerate(sent) if which.size}
            self._receive[colour] = {
                rank: order[np.searchsorted(numbers, theirs, sorter=order)]
                for rank, theirs in enumerate(told)
                if theirs.size
            }
