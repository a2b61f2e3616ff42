"""Series are cut in time or by system, and nothing of one split is in another."""

import numpy as np
import pandas as pd
import pytest

import pgode


def series(lengths: dict[str, int], **columns: dict[str, str]) -> pd.DataFrame:
    """Objects a and b of each system; x is the frame."""
    rows = [(s, o, t, float(t)) for s, n in lengths.items() for t in range(n) for o in "ab"]
    table = pd.DataFrame(rows, columns=["system", "object", "time", "x"])
    return table.assign(**{name: table["system"].map(value) for name, value in columns.items()})


def spans(data: pgode.Trajectories) -> dict[str, tuple[float, float]]:
    """First and last time of each system, by name."""
    return {
        data.system_label(k): (float(np.nanmin(t)), float(np.nanmax(t)))
        for k, t in enumerate(data.times)
    }


def test_one_series_is_cut_in_time_by_default() -> None:
    data = pgode.from_table(series({"m": 40}))
    assert spans(data) == {"m [train]": (0, 27), "m [val]": (28, 33), "m [test]": (34, 39)}
    assert data.split.tolist() == ["train", "val", "test"]


def test_gap_is_left_out_between_splits() -> None:
    data = pgode.from_table(series({"m": 44}), split_time=(0.5, 0.25, 0.25), gap=2)
    assert spans(data) == {"m [train]": (0, 19), "m [val]": (22, 31), "m [test]": (34, 43)}


def test_windows_stay_within_their_split() -> None:
    data = pgode.from_table(
        series({"m": 40, "n": 30}), window=4, stride=2, split_time=(0.5, 0.25, 0.25)
    )
    found = spans(data)
    assert found["m [train 1]"] == (0, 3) and found["m [train 9]"] == (16, 19)
    assert found["m [val 1]"] == (20, 23) and found["n [train 1]"] == (0, 3)
    seen = {
        part: {
            (data.system_label(k)[0], t)
            for k in np.flatnonzero(data.split == part)
            for t in data.times[k].tolist()
        }
        for part in ("train", "val", "test")
    }
    assert not (seen["train"] & seen["val"] or seen["val"] & seen["test"])
    np.testing.assert_array_equal(
        data.states[..., 0], np.broadcast_to(data.times[:, None], data.states.shape[:3])
    )


def test_several_systems_are_split_whole_and_by_seed() -> None:
    table = series({f"m{k}": 12 for k in range(20)})
    data = pgode.from_table(table, window=4)
    owners = {
        part: {data.system_label(k).split()[0] for k in np.flatnonzero(data.split == part)}
        for part in ("train", "val", "test")
    }
    assert [len(each) for each in owners.values()] == [14, 3, 3]
    assert len(set.union(*owners.values())) == 20
    assert pgode.from_table(table, window=4).hash == data.hash
    assert pgode.from_table(table, window=4, seed=1).hash != data.hash


def test_groups_of_systems_stay_together() -> None:
    lengths = {f"m{k}": 8 for k in range(12)}
    club = {name: f"club {k % 4}" for k, name in enumerate(lengths)}
    data = pgode.from_table(series(lengths, club=club), features=["x"], split_by="club")
    splits = {
        each: {data.split[k] for k in range(12) if club[data.system_label(k)] == each}
        for each in club.values()
    }
    assert all(len(each) == 1 for each in splits.values())
    assert {*data.split.tolist()} == {"train", "val", "test"}


def test_column_may_name_the_splits() -> None:
    part = {"p": "Training", "q": "validation", "r": "test", "s": "ood"}
    data = pgode.from_table(
        series(dict.fromkeys(part, 5), part=part), features=["x"], split_column="part"
    )
    assert data.split.tolist() == ["train", "val", "test", "ood"]


def test_series_that_are_too_short_are_noted() -> None:
    notes: list[str] = []
    data = pgode.from_table(
        series({"p": 30, "q": 30, "r": 30, "s": 5}),
        window=10,
        split_by="none",
        on_note=notes.append,
    )
    assert data.systems == 9
    assert any("1 of 4 series are shorter than 10 frames" in note for note in notes)


def test_window_holds_only_objects_that_are_seen_in_it() -> None:
    rows = [(k, t, 1.0) for k in range(10) for t in range(4 * k, 4 * k + 8)]
    table = pd.DataFrame(rows, columns=["id", "frame", "x"])
    data = pgode.from_table(table, window=4, split_by="none")
    assert data.objects == 2
    names = [data.object_label(3, k) for k in range(2)]
    assert names == ["2", "3"]


@pytest.mark.parametrize("frames", [6, 7, 9])
def test_short_series_give_every_split_two_frames(frames: int) -> None:
    data = pgode.from_table(series({"m": frames}))
    assert data.n_frames.min() == 2 and data.n_frames.sum() == frames
