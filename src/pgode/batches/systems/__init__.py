"""Systems that windows are cut from: scaled, with their graphs as compressed rows."""
