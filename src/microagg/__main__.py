"""`python -m microagg` is the command line."""

from microagg.cli import main

main()
