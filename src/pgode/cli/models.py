"""`pgode models`: every model that can be trained."""


def models() -> None:
    """List every model with its paper, its size and the time of a training step.

    Sizes and times are for the default settings on Springs (batch 16, horizon 36), measured now on
    this machine.
    """
    from rich.table import Table

    from pgode.cli.terminal import output
    from pgode.training.inventory import inventory

    console = output()
    with console.status("timing a step of every model"):
        entries = inventory()
    table = Table("model", "what it is", "paper", box=None, pad_edge=False)
    table.add_column("parameters", justify="right")
    table.add_column("ms / step", justify="right")
    for entry in entries:
        size, seconds = f"{entry.cost.parameters:,}", min(entry.cost.seconds)
        table.add_row(entry.name, entry.description, entry.citation, size, f"{1000 * seconds:.0f}")
    console.print(table)
