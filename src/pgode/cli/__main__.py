"""`python -m pgode.cli` is `pgode`."""

from pgode.cli import main

main()
