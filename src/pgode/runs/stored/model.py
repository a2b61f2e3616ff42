"""The model of a run, from its settings and scales."""

from pathlib import Path

from pgode.batches.normaliser import Normaliser
from pgode.models import Forecaster, build_model, model_config
from pgode.runtime.errors import InputError, PgodeError
from pgode.training import RunConfig


def built_model(path: Path, config: RunConfig, normaliser: Normaliser) -> Forecaster:
    """The model of the run in the folder `path`, with weights that are still to be read.

    Settings and scales that are right for themselves need not fit each other in a folder that was
    put together from several.
    """
    try:
        return build_model(config.name, model_config(config.name, config.model), normaliser)
    except PgodeError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AssertionError, RuntimeError) as error:
        raise InputError(
            f"{path / 'config.json'} and {path / 'normaliser.json'} do not belong together: no "
            f"model can be built from both ({str(error)[:200].rstrip('.')}). Expected the files of "
            f"one run. Restore both from the same run."
        ) from None
