"""The lock on a file keeps out other threads as well as other processes."""

import os
import threading

import numpy as np
import pytest

from clearance.batches import gather


class Slow:
    def __init__(self):
        self.began, self.go = threading.Event(), threading.Event()

    def __call__(self, rows):
        self.began.set()
        self.go.wait(20.0)
        return {"x": rows}

    def __reduce__(self):
        return (Slow, ())


@pytest.mark.skipif(os.name == "nt", reason="files are not locked there")
def test_second_thread_is_refused(tmp_path):
    task, rows, out = Slow(), np.arange(1.0, 101.0), tmp_path / "x.npy"
    found = []
    thread = threading.Thread(target=lambda: found.append(gather(task, rows, [("x", "f8")], out=out, chunk=10)[0]["x"]))
    thread.start()
    assert task.began.wait(20.0)
    with pytest.raises(BlockingIOError):
        gather(task, rows, [("x", "f8")], out=out, chunk=10)
    task.go.set()
    thread.join()
    np.testing.assert_array_equal(found[0], rows)
