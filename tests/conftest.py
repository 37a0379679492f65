"""Settings of every test: Hypothesis repeats itself, so a failure here is one everywhere; extras may be missing."""

import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

from clearance import _core
from extras import missing_extra

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

# Workers of pytest-xdist ignore interrupts, and so would all programs that tests start in them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def simd():
    """Lend the choice of the instruction set, and take it back afterwards."""
    before = _core.simd()
    yield _core.use_simd
    _core.use_simd(before)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """Write good files of every kind that is read; bad ones are made of them."""
    from strangers import good_files

    return good_files(tmp_path_factory.mktemp("good"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Skip a test that asks for an extra which is not installed."""
    try:
        return (yield)
    except ImportError as error:
        package = missing_extra(error)
        if package is None:
            raise
        pytest.skip(f"needs {package}")
