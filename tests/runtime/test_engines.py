"""Tasks in local processes and on Ray: results, failures and logs."""

import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from pgode.runtime.engines import ENGINES
from pgode.runtime.errors import PgodeError
from pgode.runtime.tasks import Task


@dataclass
class Record:
    """What a watcher hears."""

    done: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    most: int = 0

    def running(self, tasks):
        self.most = max(self.most, len(tasks))

    def finished(self, task):
        self.done.append(task.name)

    def failed(self, task, reason):
        self.failures[task.name] = reason


def task(name: str, *command: str, folder: Path) -> Task:
    return Task(name, command, folder / f"{name}.txt", iter, tuple, print)


def test_tasks_run_some_at_a_time_and_one_that_fails_does_not_stop_the_others(tmp_path):
    good = [task(f"good{n}", "platform", folder=tmp_path) for n in range(3)]
    bad = task("bad", "no_module_of_this_name", folder=tmp_path)
    record = Record()
    ENGINES["local"]([good[0], bad, *good[1:]], 2, 1, record)
    assert sorted(record.done) == ["good0", "good1", "good2"]
    assert record.most == 2
    assert list(record.failures) == ["bad"]
    assert "no_module_of_this_name" in record.failures["bad"]
    assert str(tmp_path / "bad.txt") in record.failures["bad"]
    assert (tmp_path / "good0.txt").read_text().strip()


class FakeRay:
    """As much of Ray as the engine needs: each task runs in this process."""

    exceptions = SimpleNamespace(RayError=RuntimeError)

    def is_initialized(self):
        return True

    def remote(self, **options):
        return lambda work: SimpleNamespace(remote=work)

    def wait(self, running, timeout):
        return running, []

    def get(self, result):
        return result


def test_a_task_on_ray_fails_with_the_last_line_of_its_error_or_its_type(tmp_path, monkeypatch):
    def failing(text: str):
        raise PgodeError(text)
        yield

    monkeypatch.setitem(sys.modules, "ray", FakeRay())
    texts = {"silent": "", "speaking": "Traceback:\n  somewhere\nthe reason\n"}
    stored: list[int] = []
    tasks = [
        Task(name, (), tmp_path / name, failing, lambda text=text: (text,), stored.append)
        for name, text in texts.items()
    ]
    tasks.append(Task("good", (), tmp_path / "good", range_of, lambda: (3,), stored.append))
    record = Record()
    ENGINES["ray"](tasks, 2, 1, record)
    assert record.failures == {"silent": "PgodeError", "speaking": "the reason"}
    assert (record.done, stored) == (["good"], [0, 1, 2])


def range_of(count: int):
    yield from range(count)
