"""How long a reproduction trains: epochs and seeds. A `Dataset` knows its numbers of systems."""

from dataclasses import dataclass

RATES = (3e-4, 1e-3, 3e-3)
"""Learning rates tried for every model; the validation error selects one."""


@dataclass(frozen=True)
class Budget:
    """The same for every model, so that no row of a table is trained more than another."""

    name: str
    description: str
    epochs: int
    seeds: int
    tuning_epochs: int = 4
    """Epochs of the short runs that choose a learning rate."""


BUDGETS = {
    budget.name: budget
    for budget in (
        Budget("smoke", "a few systems and steps, to check that everything runs", 1, 1, 1),
        Budget("quick", "10 epochs over the paper's 1000 systems, one seed", 10, 1),
        Budget("paper", "60 epochs over the paper's 1000 systems, three seeds", 60, 3),
    )
}
