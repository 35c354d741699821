"""One job runs, one waits; a new one takes the place of its kind, and none that of an export."""

import threading
import time

import pytest

from microagg.app.worker import EXPORT, LOOK, READ, TRY, Busy, Job, Worker


@pytest.fixture
def worker():
    made = Worker(lambda: None)
    yield made
    assert made.end()


class Held:
    """Work that goes on until it is let go or cancelled."""

    def __init__(self):
        self.begun, self.free, self.ended = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, job):
        self.begun.set()
        for done in range(10_000):
            job.progress(done, 10_000)
            if self.free.wait(0.005):
                self.ended.set()
                return


def test_a_new_try_stops_a_running_one_and_forgets_the_waiting_one(worker):
    first, second, third = Held(), Held(), Held()
    worker.submit(Job(TRY, "first", first))
    assert first.begun.wait(5)
    worker.submit(Job(LOOK, "second", second))
    worker.submit(Job(TRY, "third", third))
    assert third.begun.wait(5)
    assert not first.ended.is_set()
    assert not second.begun.is_set()
    third.free.set()
    assert worker.settle(5)
    assert third.ended.is_set()
    assert worker.state == "idle"


def test_only_what_somebody_cancels_is_called_cancelled(worker):
    def fail(_):
        raise ValueError

    first, second = Held(), Held()
    worker.submit(Job(READ, "first", first))
    assert first.begun.wait(5)
    worker.submit(Job(READ, "failing", fail, lambda *_: None))
    assert worker.settle(5)
    assert worker.said == ""
    worker.submit(Job(READ, "second", second))
    assert second.begun.wait(5)
    worker.cancel()
    assert worker.settle(5)
    assert worker.said == "Cancelled. Nothing was changed."


def test_an_export_is_not_stopped_by_another_job(worker):
    export, other = Held(), Held()
    worker.submit(Job(EXPORT, "writing", export))
    assert export.begun.wait(5)
    worker.submit(Job(EXPORT, "writing more", other))
    with pytest.raises(Busy):
        worker.submit(Job(TRY, "trying", Held()))
    export.free.set()
    assert other.begun.wait(5)
    assert export.ended.is_set()
    worker.cancel()
    assert worker.settle(5)
    assert not other.ended.is_set()
    assert worker.said == "Cancelled. Nothing was changed."


def test_progress_tells_how_far_it_is_and_a_phase_begins_anew(worker):
    held = Held()
    job = Job(TRY, "masking", held)
    worker.submit(job)
    assert held.begun.wait(5)
    while job.done < 2:
        time.sleep(0.001)
    assert (job.total, worker.state, worker.job) == (10_000, "running", job)
    worker.cancel(LOOK)
    assert worker.state == "running"
    worker.cancel(TRY)
    assert worker.settle(5)
    fresh = Job(TRY, "masking", held, done=50, total=200)
    assert fresh.percent == 25
    fresh.started -= 10
    assert 29 <= fresh.seconds_left <= 31
    fresh.done = 1
    assert fresh.seconds_left is None  # which would be wild
    fresh.phase("linkage")
    assert (fresh.title, fresh.percent) == ("linkage", None)


def test_of_a_fault_class_file_and_line_are_told_and_no_message(worker):
    def fail(_):
        raise ValueError("cell 4711")

    worker.submit(Job(TRY, "failing", fail))
    assert worker.settle(5)
    assert worker.state == "failed"
    assert "ValueError in test_worker.py, line" in worker.fault.text
    assert "4711" not in worker.fault.text
    worker.submit(Job(TRY, "going on", lambda _: None))
    assert worker.settle(5)
    assert worker.state == "idle"


def test_what_fails_while_an_error_is_told_does_not_end_the_thread(worker):
    def fail(_):
        raise MemoryError

    def fail_again(_, error):
        held.append(error.__traceback__)
        raise ValueError("cell 4711")

    held = []
    worker.submit(Job(TRY, "failing", fail, fail_again))
    assert worker.settle(5)
    assert held == [None]  # no frame keeps the memory that is short
    assert "ValueError in test_worker.py, line" in worker.fault.text
    assert "4711" not in worker.fault.text
    worker.submit(Job(TRY, "going on", lambda _: None))
    assert worker.settle(5)
    assert worker.state == "idle"
