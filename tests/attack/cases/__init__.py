"""The table of bad inputs, by what is bad about them."""

from tests.attack.cases import (
    configs,
    data,
    names,
    numbers,
    options,
    outputs,
    reach,
    runfiles,
    tables,
)
from tests.attack.cases.case import Case

TABLE: dict[str, list[Case]] = {
    "options": options.CASES,
    "numbers": numbers.CASES,
    "data files": data.CASES,
    "tables, bodies, molecules": tables.CASES,
    "settings and spaces": configs.CASES,
    "run files": runfiles.CASES,
    "outputs": outputs.CASES,
    "names": names.CASES,
    "files that reach elsewhere": reach.CASES,
}
