"""Two threads that shared a guard wrote into each other's volumes."""

import threading

import numpy as np

import clearance as cl


def test_a_second_thread_is_told_to_stay_away():
    robot = cl.samples.upper_body()
    guard = cl.Guard(robot)
    q, qd = np.tile(cl.samples.upper_body_home(), (2000, 1)), np.zeros((2000, robot.nv))
    refused, answered = [], []

    def replay():
        for _ in range(5):
            try:
                answered.append(guard.replay(q, qd))
            except RuntimeError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=replay) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answered
    assert all("another thread" in message for message in refused)
    assert not any(run.stop[-1] for run in answered)
