"""From utilities to scores of summaries and a ranking of systems; simulated annotators."""
