"""From finished trials to tables and figures."""
