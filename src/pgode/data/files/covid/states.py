"""The 50 states of the US: names, FIPS codes and which of them share a border on land.

The District of Columbia and the territories are left out, as in the published comparison. Alaska
and Hawaii have no neighbours: links that other tables add for them are not borders.
"""

from types import MappingProxyType
from typing import NamedTuple


class State(NamedTuple):
    """A state: its name, postal code, FIPS code and the postal codes of its neighbours."""

    name: str
    code: str
    fips: int
    neighbours: tuple[str, ...]


_TABLE = """
Alabama AL 1 FL GA MS TN
Alaska AK 2
Arizona AZ 4 CA CO NM NV UT
Arkansas AR 5 LA MO MS OK TN TX
California CA 6 AZ NV OR
Colorado CO 8 AZ KS NE NM OK UT WY
Connecticut CT 9 MA NY RI
Delaware DE 10 MD NJ PA
Florida FL 12 AL GA
Georgia GA 13 AL FL NC SC TN
Hawaii HI 15
Idaho ID 16 MT NV OR UT WA WY
Illinois IL 17 IA IN KY MO WI
Indiana IN 18 IL KY MI OH
Iowa IA 19 IL MN MO NE SD WI
Kansas KS 20 CO MO NE OK
Kentucky KY 21 IL IN MO OH TN VA WV
Louisiana LA 22 AR MS TX
Maine ME 23 NH
Maryland MD 24 DE PA VA WV
Massachusetts MA 25 CT NH NY RI VT
Michigan MI 26 IN OH WI
Minnesota MN 27 IA ND SD WI
Mississippi MS 28 AL AR LA TN
Missouri MO 29 AR IA IL KS KY NE OK TN
Montana MT 30 ID ND SD WY
Nebraska NE 31 CO IA KS MO SD WY
Nevada NV 32 AZ CA ID OR UT
New_Hampshire NH 33 MA ME VT
New_Jersey NJ 34 DE NY PA
New_Mexico NM 35 AZ CO OK TX UT
New_York NY 36 CT MA NJ PA VT
North_Carolina NC 37 GA SC TN VA
North_Dakota ND 38 MN MT SD
Ohio OH 39 IN KY MI PA WV
Oklahoma OK 40 AR CO KS MO NM TX
Oregon OR 41 CA ID NV WA
Pennsylvania PA 42 DE MD NJ NY OH WV
Rhode_Island RI 44 CT MA
South_Carolina SC 45 GA NC
South_Dakota SD 46 IA MN MT ND NE WY
Tennessee TN 47 AL AR GA KY MO MS NC VA
Texas TX 48 AR LA NM OK
Utah UT 49 AZ CO ID NM NV WY
Vermont VT 50 MA NH NY
Virginia VA 51 KY MD NC TN WV
Washington WA 53 ID OR
West_Virginia WV 54 KY MD OH PA VA
Wisconsin WI 55 IA IL MI MN
Wyoming WY 56 CO ID MT NE SD UT
"""
"""Name, postal code, FIPS code, neighbours. States that meet in a point (Arizona and Colorado, New
Mexico and Utah) count as neighbours."""


def _state(line: str) -> State:
    name, code, fips, *neighbours = line.split()
    return State(name.replace("_", " "), code, int(fips), tuple(neighbours))


STATES: tuple[State, ...] = tuple(_state(line) for line in _TABLE.strip().splitlines())
"""In alphabetical order."""
PLACE = MappingProxyType({state.name: place for place, state in enumerate(STATES)})
"""The number of each state in `STATES`, by name."""
FIPS = MappingProxyType({state.name: f"{state.fips:02d}" for state in STATES})
"""The two-digit code of each state, by name."""
