"""Settings of every test: Hypothesis repeats itself, so a failure here is a failure everywhere."""

import pytest
from hypothesis import HealthCheck, Phase, settings

from clearance import _core

settings.register_profile(
    "suite",
    derandomize=True,
    deadline=None,
    max_examples=30,
    database=None,
    phases=[Phase.explicit, Phase.generate],  # a seed does not shrink to anything simpler
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("thorough", settings.get_profile("suite"), derandomize=False, max_examples=1000)
settings.load_profile("suite")


@pytest.fixture
def simd():
    """Lend the choice of the instruction set, and take it back afterwards."""
    before = _core.simd()
    yield _core.use_simd
    _core.use_simd(before)
