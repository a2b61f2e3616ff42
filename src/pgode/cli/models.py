"""`pgode models`: every model that can be trained."""


def models() -> None:
    """List every model: what it is, its paper, its size and what a training step costs.

    Sizes and times are those of the default settings on Springs (batch 16, horizon 36), timed now
    on this machine.
    """
    from rich.console import Console
    from rich.table import Table

    from pgode.reproduce.plan.inventory import inventory

    console = Console()
    with console.status("timing a step of every model"):
        rows = inventory()
    table = Table("model", "what it is", "paper", box=None, pad_edge=False)
    table.add_column("parameters", justify="right")
    table.add_column("ms / step", justify="right")
    for row in rows:
        table.add_row(*row)
    console.print(table)
