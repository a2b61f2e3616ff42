"""Headless Chromium through its DevTools pipe: what a person would see, click and read.

The pipe (messages that end in a zero byte, on file descriptors 3 and 4) needs no port and no
package.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",  # containers and CI run as root, where the sandbox cannot start
    "--disable-gpu",
    "--enable-unsafe-swiftshader",  # WebGL without a graphics card, for molecules
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)
PATIENCE = 60.0


def painted(canvas: str, is_painted: str) -> str:
    """A script for [how many pixels of a canvas are painted, a sum that changes with the drawing].

    `canvas` is its selector, `is_painted` a condition on data[i] to data[i + 3]. The pixels are
    read from a copy, because Chromium warns when a canvas meant for drawing is read often.
    """
    return f"""(() => {{
      const drawn = document.querySelector("{canvas}");
      const canvas = new OffscreenCanvas(drawn.width, drawn.height);
      const context = canvas.getContext("2d", {{ willReadFrequently: true }});
      context.drawImage(drawn, 0, 0);
      const data = context.getImageData(0, 0, canvas.width, canvas.height).data;
      let [count, sum] = [0, 0];
      for (let i = 0; i < data.length; i += 4) {{
        if ({is_painted}) {{
          count += 1;
          sum = (sum * 31 + i + data[i] + 7 * data[i + 1]) % 1000003;
        }}
      }}
      return [count, sum];
    }})()"""


class Chromium:
    """One page in one browser. Errors of its console and requests it made are collected."""

    def __init__(
        self,
        width: int = 1300,
        height: int = 900,
        scheme: str = "light",
        flags: tuple[str, ...] = (),
    ) -> None:
        self._flags = flags
        self.problems: list[str] = []
        self.requests: list[str] = []
        self._size, self._scheme = (width, height), scheme
        self._count, self._buffer, self._session = 0, b"", ""

    def __enter__(self) -> "Chromium":
        binary = next((found for name in NAMES if (found := shutil.which(name))), None)
        assert binary is not None, f"none of {', '.join(NAMES)} is on PATH: run make test-browser"
        with ExitStack() as opened:
            profile = opened.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            flags = (*FLAGS, *self._flags)
            self._start([binary, *flags, f"--user-data-dir={profile}", "about:blank"], opened)
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
            self._session = attached["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
            self.reset()
            self._opened = opened.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened.close()

    def _start(self, command: list[str], opened: ExitStack) -> None:
        """Start the browser; bash puts the pipe on descriptors 3 and 4, where it is looked for."""
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        opened.callback(os.close, self._read)
        opened.callback(os.close, self._write)
        # Above 9, so that putting one in its place cannot overwrite the other.
        ends = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, 10) for each in (to_read, to_write)]
        script = f'exec 3<&{ends[0]} 4>&{ends[1]}; exec "$@"'
        process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command],
            pass_fds=ends,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for each in (to_read, to_write, *ends):
            os.close(each)
        opened.callback(self._end, process)

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        self._session = ""
        try:
            if process.poll() is None:
                self.call("Browser.close")
            process.wait(10)
        finally:
            process.kill()
            process.wait()

    def reset(self) -> None:
        """Forget the page before, with what it reported."""
        self.call("Page.navigate", url="about:blank")
        self.resize(*self._size)
        self.scheme(self._scheme)
        self.problems.clear()
        self.requests.clear()

    def open(self, path: Path) -> None:
        """Load a file and wait until its script says it is ready."""
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.documentElement?.dataset.ready === 'true'")

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def scheme(self, name: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": name}
        self.call("Emulation.setEmulatedMedia", features=[feature])

    def run(self, script: str) -> Any:
        """The value of an expression in the page; promises are waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        until = time.monotonic() + PATIENCE
        while not self.run(condition):
            assert time.monotonic() < until, f"{condition} did not come true; {self.problems}"
            time.sleep(0.05)

    def repainted(self, pixels: str, before: list[int]) -> list[int]:
        """What `pixels` (see `painted`) gives once it differs from `before`.

        Events of the pointer and of the colour scheme reach the page with its next frame, which a
        busy machine draws when it can.
        """
        self.wait(f"({pixels})[1] !== {before[1]}")
        return list(self.run(pixels))

    def press(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **KEYS.get(key, {}))

    def move(self, x: float, y: float) -> None:
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press at one point, move to another in steps, and let go."""
        middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
        button = {"button": "left", "buttons": 1, "clickCount": 1}
        for kind, (x, y) in (
            ("mousePressed", start),
            ("mouseMoved", middle),
            ("mouseMoved", end),
            ("mouseReleased", end),
        ):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def screenshot(self, path: Path) -> None:
        """The whole page, not only what is in the window."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while True:
            answer = self._receive(until, method)
            if answer.get("id") == self._count:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer.get("result", {})
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.problems.append(json.dumps(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning", "assert"):
                self.problems.append(json.dumps(parameters["args"]))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                # WebGL without a graphics card is slow, and its driver says so.
                if "GL Driver Message (OpenGL, Performance" not in parameters["entry"]["text"]:
                    self.problems.append(parameters["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])

    def _receive(self, until: float, method: str) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(until - time.monotonic(), 0))
            assert ready, f"Chromium did not answer {method} within {PATIENCE:.0f} s"
            piece = os.read(self._read, 1 << 20)
            assert piece, f"Chromium ended before it answered {method}"
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        return found


KEYS: dict[str, dict[str, Any]] = {
    "ArrowRight": {"windowsVirtualKeyCode": 39},
    "ArrowLeft": {"windowsVirtualKeyCode": 37},
    "Home": {"windowsVirtualKeyCode": 36},
    "End": {"windowsVirtualKeyCode": 35},
}
