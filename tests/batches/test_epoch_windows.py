"""The windows that an epoch trains on."""

import numpy as np

from pgode.batches.epoch_windows import EpochWindows
from pgode.batches.normaliser import Normaliser
from pgode.batches.windows import Windows
from pgode.data.trajectories import Trajectories


def series(*frames: int) -> Windows:
    """Systems of these lengths, in windows of 2 + 3 frames."""
    longest = max(frames)
    times = np.tile(np.arange(float(longest)), (len(frames), 1))
    for row, count in enumerate(frames):
        times[row, count:] = np.nan
    states = np.random.default_rng(0).normal(size=(len(frames), 1, longest, 1))
    edges = np.zeros((len(frames), 1, 1))
    data = Trajectories.build(states, times, edges=edges, features=("a",))
    return Windows(data, Normaliser.fit(data), 2, 3)


def test_an_epoch_of_all_windows_has_each_once_in_another_order() -> None:
    chosen = EpochWindows(series(10, 5), "all", 1, seed=3)
    assert chosen.per_epoch == 7
    epochs = [list(zip(*chosen.of_epoch(e, 3), strict=True)) for e in (0, 1)]
    expected = [*((0, k) for k in range(6)), (1, 0)]
    assert sorted(epochs[0]) == sorted(epochs[1]) == expected
    assert epochs[0] != epochs[1]
    assert epochs[0] == list(zip(*chosen.of_epoch(0, 3), strict=True))


def test_with_a_stride_every_window_is_seen_in_some_epoch() -> None:
    chosen = EpochWindows(series(20), "all", 4, seed=0)
    assert chosen.per_epoch == 4
    starts = np.concatenate([chosen.of_epoch(epoch, 3)[1] for epoch in range(30)])
    assert set(starts.tolist()) == set(range(16))
