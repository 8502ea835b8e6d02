"""`python -m evaluation`: the offline commands by their earlier name, for scripts that call them so."""

import runpy

runpy.run_module("preferendum.cli", run_name="__main__", alter_sys=True)
