"""The checks of a data file, by what they look at; each is one function of a `Subject`."""
