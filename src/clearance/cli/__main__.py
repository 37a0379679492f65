"""`python -m clearance.cli` is the command `clearance`."""

from . import main

main()
