"""Search for settings: trials of one model on one data set, chosen by Optuna."""
