"""Names, roles, variables and units of features, and those of parameters, as coordinates."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from pgode.data import validation
from pgode.data.labels.features import check_roles, guess_roles, guess_variables
from pgode.data.schema import strings

Names = Sequence[str] | Shaped[np.ndarray, " name"]


def feature_columns(
    names: tuple[str, ...],
    roles: Names | None,
    variables: Names | None,
    units: Names | None,
    source: str,
) -> dict[str, Any]:
    """Name, role, variable and units of each feature; guessed from the names where not given."""

    def texts(name: str, values: Names) -> tuple[str, ...]:
        return validation.texts(name, values, len(names), "feature", source)

    role = texts("roles", guess_roles(names) if roles is None else roles)
    check_roles(names, role, source)
    variable = texts("variables", guess_variables(names, role) if variables is None else variables)
    unit = texts("units", ("",) * len(names) if units is None else units)
    return {
        "feature": strings(names),
        "feature_role": ("feature", strings(role)),
        "feature_variable": ("feature", strings(variable)),
        "feature_units": ("feature", strings(unit)),
    }


def parameter_columns(
    parameters: Any, names: Names, units: Names | None, systems: int, source: str
) -> tuple[Float[np.ndarray, "system parameter"], dict[str, Any]]:
    """The parameters of each system, and the name and units of each parameter."""
    count = len(names)
    if parameters is None:
        parameters = np.empty((systems, 0))
    p = validation.numbers(
        "parameters", parameters, ("system", "parameter"), (systems, count), source
    )
    names = validation.texts("parameter_names", names, count, "parameter", source)
    validation.check_names("parameter", names, source)
    validation.check_parameters(p, names, source)
    p[np.isnan(p)] = np.nan
    units = ("",) * count if units is None else units
    units = validation.texts("parameter_units", units, count, "parameter", source)
    return p, {"parameter": strings(names), "parameter_units": ("parameter", strings(units))}
