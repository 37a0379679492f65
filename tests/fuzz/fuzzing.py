"""Coverage-guided fuzzing of one target with atheris: `make fuzz-files`.

The corpus that is kept lies in corpus/, one file per input; what is found on the way goes to the folder that is named
first among the arguments, or is thrown away. An input that ends in anything but an answer stops the fuzzer and is
written down; it becomes a test in regressions/.
"""

import sys
import tempfile
from pathlib import Path

import atheris

CORPUS = Path(__file__).parent / "corpus"


def fuzz(target: str) -> None:
    """Fuzz until the time given as -max_total_time is over; all arguments are those of libFuzzer."""
    with atheris.instrument_imports(include=["clearance", "tomllib", "zipfile", "pickletools"]):
        import targets

    with tempfile.TemporaryDirectory() as found, tempfile.TemporaryDirectory() as good:
        for name, data in targets.seeds(target).items():
            (Path(good) / name).write_bytes(data)
        given = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
        options = [argument for argument in sys.argv[1:] if argument.startswith("-")]
        limits = ["-timeout=20", "-rss_limit_mb=2048", "-max_len=20000"]
        folders = [*(given or [found]), str(CORPUS / target), good]
        atheris.Setup([sys.argv[0], *limits, *options, *folders], lambda data: targets.answered(target, data) and None)
        atheris.Fuzz()
