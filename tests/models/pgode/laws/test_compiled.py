"""Compiled code that is kept on disk is that of the files as they are."""

import inspect
from types import ModuleType

import pytest
from tests.models.pgode.laws.motion.small_motion import case

from pgode.models.pgode.laws.compiled import VERSION
from pgode.models.pgode.laws.evidence import assignment_kernel, evidence_kernel
from pgode.models.pgode.laws.motion import backward_kernel, force_kernel, forward_kernel

KERNELS = [assignment_kernel, evidence_kernel, backward_kernel, force_kernel, forward_kernel]


@pytest.mark.parametrize("module", KERNELS, ids=lambda module: module.__name__.rsplit(".", 1)[1])
def test_functions_kept_on_disk_and_no_others_carry_the_version(module: ModuleType) -> None:
    functions = [each for each in vars(module).values() if hasattr(each, "py_func")]
    assert functions
    for function in functions:
        kept = function.targetoptions.get("cache", False) or function._cache.cache_path is not None
        version = inspect.signature(function.py_func).parameters.get("version")
        assert kept == (version is not None), function.__name__
        assert version is None or version.default == VERSION


def test_version_is_part_of_what_kept_code_is_found_by() -> None:
    case("free").path()
    signatures = forward_kernel.forward.signatures
    assert signatures
    assert all(f"omitted(default={VERSION})" in str(each[-1]) for each in signatures)
