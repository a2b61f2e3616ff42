"""An epidemic that travels around a ring of regions, with fewer reports at weekends."""

from datetime import date, timedelta
from pathlib import Path

import numpy as np

REGIONS = ("Aland", "Borg", "Corve", "Delden", "Elst", "Farn", "Gouda", "Halm", "Ister", "Jura")
DAYS, FIRST = 420, date(2021, 1, 4)
WEEKEND = (1.0, 1.15, 1.1, 1.05, 1.0, 0.75, 0.55)
"""Share of a day's cases that are reported on it, from Monday to Sunday."""


def epidemic(folder: Path, seed: int = 0) -> None:
    """`cases.csv`: date, region, population, cases, deaths; `neighbours.csv`: pairs of regions.

    Susceptible, infectious and recovered people of each region; contacts are with one's own region
    and its two neighbours, and rise and fall over the year. Immunity fades, so waves come again.
    """
    random = np.random.default_rng(seed)
    count = len(REGIONS)
    population = np.round(random.uniform(2e5, 9e5, count), -3)
    infectious = np.zeros(count)
    infectious[0], infectious[count // 2] = 600, 200
    susceptible = 0.7 * population - infectious
    nearby = 0.9 * np.eye(count)
    for k in range(count):
        nearby[k, (k - 1) % count] = nearby[k, (k + 1) % count] = 0.05
    sick = np.zeros((DAYS + 14, count))
    rows = ["date,region,population,cases,deaths"]
    for day in range(DAYS):
        contacts = 0.19 + 0.05 * np.cos(2 * np.pi * day / 120)
        new = contacts * susceptible * (nearby @ (infectious / population))
        recovered = infectious / 8
        fading = (population - susceptible - infectious) / 90
        susceptible += fading - new
        infectious += new - recovered
        sick[day] = new
        today = FIRST + timedelta(days=day)
        share = 0.4 * WEEKEND[today.weekday()]
        cases = random.poisson(share * new * random.gamma(60, 1 / 60, count))
        lag = sick[max(0, day - 14)]
        deaths = random.poisson(0.012 * lag * WEEKEND[today.weekday()])
        rows += [
            f"{today},{region},{int(population[k])},{cases[k]},{deaths[k]}"
            for k, region in enumerate(REGIONS)
        ]
    (folder / "cases.csv").write_text("\n".join(rows) + "\n")
    pairs = [f"{REGIONS[k]},{REGIONS[(k + 1) % count]}" for k in range(count)]
    (folder / "neighbours.csv").write_text("\n".join(["from,to", *pairs]) + "\n")
