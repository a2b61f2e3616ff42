"""A file for libraries that do not survive a failed write.

HDF5 ends the process with a segmentation fault, or with dozens of tracebacks, when a write fails:
it tries again whenever anything is closed. So it writes into a file that never fails. What the
disk does not take is kept in memory, and the error is raised after HDF5 has closed its file.
"""

import io
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from pgode.runtime.disk.room import OutOfRoomError


class UnfailingFile(io.RawIOBase):
    """A new file whose writes always succeed for the writer; `check` raises what went wrong."""

    def __init__(self, path: Path) -> None:
        self.path, self.failure = path, None
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        self._place = self._size = 0
        self._kept: list[tuple[int, bytes]] = []

    failure: OSError | None
    """The first error of the disk."""

    def check(self) -> None:
        """Raise the first error of the disk, with the bytes that the file would have needed."""
        if self.failure is not None:
            assert self.failure.errno is not None
            raise OutOfRoomError(self.failure.errno, self._size) from self.failure

    def seekable(self) -> bool:
        """It is."""
        return True

    def readable(self) -> bool:
        """HDF5 reads back what it wrote."""
        return True

    def writable(self) -> bool:
        """It is."""
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place, which may be beyond the end."""
        self._place = offset + (0, self._place, self._size)[whence]
        return self._place

    def tell(self) -> int:
        """The place."""
        return self._place

    def truncate(self, size: int | None = None) -> int:
        """Cut or extend the file."""
        self._size = self._place if size is None else size
        if self.failure is None:
            try:
                os.ftruncate(self._handle, self._size)
            except OSError as error:
                self.failure = error
        return self._size

    def write(self, content: object) -> int:
        """Write at the place, to the disk as long as it takes anything."""
        data = memoryview(content).cast("B")  # type: ignore[arg-type]
        if self.failure is None:
            done = 0
            try:
                while done < len(data):
                    done += os.pwrite(self._handle, data[done:], self._place + done)
            except OSError as error:
                self.failure = error
        if self.failure is not None:
            self._kept.append((self._place, bytes(data)))
        self._place += len(data)
        self._size = max(self._size, self._place)
        return len(data)

    def readinto(self, buffer: object) -> int:
        """Read from the place what was written there last; what never was written is 0."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        count = max(min(len(view), self._size - self._place), 0)
        view[:count] = os.pread(self._handle, count, self._place).ljust(count, b"\0")
        for start, data in self._kept:
            first, last = max(start, self._place), min(start + len(data), self._place + count)
            if first < last:
                view[first - self._place : last - self._place] = data[first - start : last - start]
        self._place += count
        return count

    def close(self) -> None:
        """Close the file on disk."""
        if not self.closed:
            os.close(self._handle)
            self._kept.clear()
        super().close()


@contextmanager
def unfailing_file(path: Path) -> Iterator[UnfailingFile]:
    """A new file inside the block; the first error of the disk is raised at its end."""
    with UnfailingFile(path) as file:
        yield file
        file.check()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back signals inside the block.

    Handlers run in the midst of the methods of a file. An exception there would be one more error
    that HDF5 does not survive.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        received.append(number)

    wanted = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in wanted}
    changed = [number for number in wanted if callable(before[number])]
    for number in changed:
        signal.signal(number, remember)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, before[number])
        if received:
            signal.raise_signal(received[0])
