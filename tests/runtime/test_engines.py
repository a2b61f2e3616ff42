"""Tasks in local processes: results, failures and logs."""

from dataclasses import dataclass, field
from pathlib import Path

from pgode.runtime.engines import ENGINES
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
