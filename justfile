# Usual names for what `python3 manage.py` does; `just` alone lists them.

[private]
default:
    @just --list

# two real studies, with a link for each role
demo:
    python3 manage.py demo

# all tests, or those of some files: just test tests/test_glossary.py
test *files:
    python3 manage.py test {{ files }}

# format, lint, types, import rules and templates
check:
    python3 manage.py check_code

# correct what can be corrected
format:
    .venv/bin/ruff check --fix . && .venv/bin/ruff format .

# the documentation as a site, in build/site
docs:
    .venv/bin/mkdocs build

# everything that a commit must pass, from a clean clone
ci:
    .ci/run
