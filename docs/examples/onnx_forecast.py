"""Forecast with a file that `pgode export` wrote: numpy and onnxruntime, no pgode and no torch.

    pip install numpy onnxruntime
    python onnx_forecast.py model.onnx

The observations are made up here: two systems, of three and of five objects, whose values change at
constant rates. Put your own in their place.
"""

import json
import sys

import numpy as np
import onnxruntime


def made_up(about: dict[str, str]) -> dict[str, np.ndarray]:
    """Arrays of the shapes that the model asks for."""
    condition, features = int(about["condition"]), json.loads(about["features"])
    random = np.random.default_rng(0)
    system = np.repeat([0, 1], [3, 5])
    frames = np.arange(condition)
    start, rate = random.uniform(-0.5, 0.5, (2, len(system), 1, len(features)))
    states = start + 0.01 * rate * frames[:, None]
    states[0, 1] = np.nan  # The first object was not observed at the second frame.
    # Every object receives from every other one of its system.
    joined = (system[:, None] == system) & ~np.eye(len(system), dtype=bool)
    receivers, senders = np.nonzero(joined)
    arrays = {
        "states": states,
        "times": float(about["frame_duration"]) * np.tile(frames, (2, 1)),
        "system": system,
        "senders": senders,
        "receivers": receivers,
        "edge_attributes": np.ones((len(senders), len(json.loads(about["edge_attributes"])))),
        "edge_begin": np.zeros(len(senders)),
        "edge_end": np.full(len(senders), condition),
        "group": np.full(len(system), -1),
        "constants": np.zeros((len(system), len(json.loads(about["constants"])))),
        "inputs": np.zeros(
            (len(system), condition + int(about["until"]), len(json.loads(about["inputs"])))
        ),
    }
    wanted = json.loads(about["arrays"])
    return {each["name"]: arrays[each["name"]].astype(each["dtype"]) for each in wanted}


def main(path: str) -> None:
    """Print the forecast of the first object of each system."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    about = session.get_modelmeta().custom_metadata_map
    arrays = made_up(about)
    (forecast,) = session.run(["forecast"], arrays)
    features, units = json.loads(about["features"]), json.loads(about["units"])
    print(f"{forecast.shape[0]} objects, {forecast.shape[1]} frames of {about['frame_duration']}")
    for number in (0, 3):
        last = forecast[number, -1]
        values = zip(features, last, units, strict=True)
        words = ", ".join(f"{name} {value:.3f} {unit}".strip() for name, value, unit in values)
        print(f"object {number} of system {arrays['system'][number]}, last frame: {words}")


if __name__ == "__main__":
    main(sys.argv[1])
