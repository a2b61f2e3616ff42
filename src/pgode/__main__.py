"""`python -m pgode`: the command `pgode`, for torchrun and where no script is installed."""

from pgode.cli import main

main()
