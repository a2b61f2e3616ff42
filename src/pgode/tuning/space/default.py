"""The settings that a search varies where no file names them.

One table serves all models: a setting that a model does not have, or that would have no effect with
the preset, is left out. Most domains are relative to the preset, whose own value is always among
them, so that the first trial is the preset itself.
"""

from collections.abc import Collection

from pgode.models.registry import NAIVE
from pgode.runtime.errors import InputError
from pgode.training.config import RunConfig
from pgode.tuning.space.domains import Choice, Domain, Range, Value, contains
from pgode.tuning.space.settings import changed, value_of

DECADES = {"training.learning_rate": 1, "training.weight_decay": 2}
"""Logarithmic ranges: so many powers of ten below and above the preset's value."""

FACTORS: dict[str, tuple[float, ...]] = {
    "training.batch": (0.5, 1, 2),
    "model.width": (0.5, 1, 2),
    "model.hidden": (0.5, 1, 2),
    "model.latent": (0.5, 1, 2),
    "model.message": (0.5, 1, 2),
    "model.points": (0.5, 1, 2),
    "model.solver.step": (0.5, 1),
}
"""Choices relative to the preset's value. Half a solver's step is two sub-steps for one."""

CHOICES: dict[str, tuple[Value, ...]] = {
    "model.dynamics.prototypes": (2, 3, 5, 8),
    "model.layers": (1, 2, 3),
    "model.encoder.layers": (1, 2, 3),
    "model.encoder_layers": (1, 2),
    "model.order": (2, 3),
    "model.edge_types": (2, 3, 4),
    "model.categories": (2, 4),
}

LAWS: dict[str, tuple[Value, ...]] = {
    "model.dynamics.prototypes": (1, 2, 3, 5),
    "model.dynamics.third_law": (True, False),
    "model.dynamics.disentangled": (True, False),
    "model.dynamics.ensemble": (1, 4, 16),
}
"""Of force laws. They are found without gradients: no setting of the training has an effect."""


def default_space(config: RunConfig, fixed: Collection[str] = ()) -> dict[str, Domain]:
    """The domains for these settings, without those in `fixed`, which the user has chosen."""
    if config.name in NAIVE:
        raise InputError(
            f'the model "{config.name}" has no settings to search: it is a naive model, without '
            f"training. Expected a model that is trained. Choose another with --model."
        )
    return {
        name: domain
        for name, domain in _domains(config).items()
        if name not in fixed and _allowed(config, name, domain)
    }


def has_laws(config: RunConfig) -> bool:
    """Whether prototypes are force laws."""
    return bool(value_of(config, "model.dynamics.kind") == "laws")


def laws_alone(config: RunConfig) -> bool:
    """Whether there are no networks beside them, so that a training has no epochs."""
    return has_laws(config) and value_of(config, "model.dynamics.messages") is False


def _domains(config: RunConfig) -> dict[str, Domain]:
    if laws_alone(config):
        return {name: _including(config, name, values) for name, values in LAWS.items()}
    domains: dict[str, Domain] = {}
    for name, decades in DECADES.items():
        own = value_of(config, name)
        if own:
            domains[name] = Range(
                float(f"{own / 10**decades:.6g}"), float(f"{own * 10**decades:.6g}"), log=True
            )
    for name, factors in FACTORS.items():
        own = value_of(config, name)
        if isinstance(own, int | float):
            scaled = [max(round(own * f), 1) if isinstance(own, int) else own * f for f in factors]
            domains[name] = Choice(tuple(sorted(set(scaled))))
    choices = {**CHOICES, **LAWS} if has_laws(config) else CHOICES
    for name, values in choices.items():
        if value_of(config, name) is not None:
            domains[name] = _including(config, name, values)
    return domains


def _including(config: RunConfig, name: str, values: tuple[Value, ...]) -> Choice:
    """The choices with the preset's own value among them."""
    own, choice = value_of(config, name), Choice(values)
    if contains(choice, own):
        return choice
    numbers = [value for value in (*values, own) if isinstance(value, int | float)]
    return Choice(tuple(sorted(numbers)))


def _allowed(config: RunConfig, name: str, domain: Domain) -> bool:
    """Whether the setting exists, is not one value only, and has an effect with this preset."""
    values = domain.values if isinstance(domain, Choice) else (domain.low, domain.high)
    try:
        for value in values:
            changed(config, {name: value})
    except InputError:
        return False
    return len(values) > 1
