"""How much work a reproduction may be: systems, epochs, seeds, tries of a learning rate."""

from dataclasses import dataclass

RATES = (3e-4, 1e-3, 3e-3)
"""Learning rates that every model is tried with; validation error decides."""

TUNING_HORIZON = 12
"""Frames that the short runs behind that choice forecast."""


@dataclass(frozen=True)
class Budget:
    """The same for every model, so that no row of a table had more to learn from than another."""

    name: str
    words: str
    epochs: int
    seeds: int
    train: int = 1000
    held_out: int = 200
    """Systems of each of the splits val, test and ood."""
    tuning_epochs: int = 4
    tuning_train: int = 250
    molecular_train: int = 200
    molecular_held_out: int = 50

    @property
    def counts(self) -> dict[str, int]:
        """Systems of each split."""
        return _counts(self.train, self.held_out)

    @property
    def molecular_counts(self) -> dict[str, int]:
        """Samples of each split of a protein; a fifth of the particles' systems."""
        return _counts(self.molecular_train, self.molecular_held_out)


def _counts(train: int, held_out: int) -> dict[str, int]:
    return {"train": train} | dict.fromkeys(("val", "test", "ood"), held_out)


BUDGETS = {
    budget.name: budget
    for budget in (
        Budget(
            "smoke",
            "a few systems and steps: shows that everything runs, and nothing else",
            *(1, 1, 12, 6, 1, 6, 4, 2),
        ),
        Budget("quick", "10 epochs over the paper's 1000 systems, one seed", 10, 1),
        Budget("paper", "60 epochs over the paper's 1000 systems, three seeds", 60, 3),
    )
}
