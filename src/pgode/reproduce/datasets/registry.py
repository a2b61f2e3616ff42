"""The data sets of the tables. A new one is one entry here."""

from pgode.reproduce.datasets.dataset import Dataset
from pgode.reproduce.datasets.epidemic import ReportedEpidemic
from pgode.reproduce.datasets.particles import SimulatedParticles
from pgode.reproduce.datasets.proteins import SimulatedProtein

DATASETS: dict[str, Dataset] = {
    dataset.name: dataset
    for dataset in (
        SimulatedParticles("springs", "Springs", system="springs"),
        SimulatedParticles("charged", "Charged", system="charged"),
        SimulatedParticles("springs-30", "Springs, 30 objects", system="springs", objects=30),
        SimulatedParticles("nbody", "N-body, 3-D", system="nbody", objects=5),
        SimulatedParticles("gravity", "Gravity, different masses", system="gravity"),
        SimulatedParticles("mixed", "Mixed, hidden kinds", system="mixed"),
        SimulatedProtein("5awl", "5AWL, superposed", entry="5awl"),
        SimulatedProtein("2n5c", "2N5C, superposed", entry="2n5c"),
        SimulatedProtein("5awl-raw", "5AWL, as simulated", entry="5awl", align="raw"),
        SimulatedProtein("2n5c-raw", "2N5C, as simulated", entry="2n5c", align="raw"),
        ReportedEpidemic("covid", "COVID-19 in 50 US states"),
    )
}
