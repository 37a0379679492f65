"""What the fuzzers of files have kept is read or refused, also where there is no fuzzer."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "fuzz"))

import targets

pytest.importorskip("trimesh", reason="scenes need the extra 'view'")

pytestmark = pytest.mark.filterwarnings("ignore")

CORPUS = Path(targets.__file__).parent / "corpus"


@pytest.mark.parametrize("target", targets.TARGETS)
def test_good_inputs_are_read(target):
    seeds = targets.seeds(target)
    assert len(seeds) >= 2
    assert all(targets.answered(target, data) for data in seeds.values())


@pytest.mark.parametrize("target", targets.TARGETS)
def test_what_was_kept_is_read_or_refused(target):
    files = sorted((CORPUS / target).iterdir())
    assert len(files) >= 10
    read = [targets.answered(target, file.read_bytes()) for file in files]
    assert not all(read)
