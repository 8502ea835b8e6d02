"""`python -m evaluation`: the offline commands by their earlier name, for scripts that call them so."""

import sys

from preferendum.cli.__main__ import main

sys.exit(main(sys.argv[1:]))
