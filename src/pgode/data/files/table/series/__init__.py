"""Times, frames and how series are cut."""
