import numpy as np
from tests.reports.fabricate import training_log
from tests.reports.run.test_error_curves import readout

from pgode.reports.run.training import training_figures


def test_no_log_no_panels():
    assert training_figures([]) == []


def test_training_terms_of_either_sign_get_a_linear_panel_of_their_own():
    panels = training_figures(training_log(12, np.random.default_rng(0)))
    names = [[row["name"] for row in readout(panel)["rows"]] for panel in panels]
    assert names == [
        ["validation error"],
        ["total", "mse", "kl"],
        ["mutual_information"],
        ["learning rate"],
    ]
    assert "best: " in panels[0]


def test_gradients_on_each_encoder_are_drawn_without_terms_that_do_not_reach_it():
    log = training_log(2, np.random.default_rng(0))
    log[1]["gradients"] = {"object": {"kl": 0.5, "parameter_info": 0.0}, "system": {"kl": 0.0}}
    names = [[row["name"] for row in readout(panel)["rows"]] for panel in training_figures(log)]
    assert names[-2:] == [["kl"], ["learning rate"]]


def test_epochs_with_failed_or_missing_values_are_drawn_as_gaps():
    log = training_log(4, np.random.default_rng(0))
    log[1]["val_mse"] = float("nan")
    log[2] = {"epoch": 3}
    panels = training_figures(log)
    assert readout(panels[0])["rows"][0]["y"][1:3] == [None, None]
    assert "nan" not in panels[0]


def test_one_epoch_is_drawn():
    assert len(training_figures(training_log(1, np.random.default_rng(0)))) == 4
