"""What is shown of results, the same on pages, in files and in the terminal: tables, figures, LaTeX, units, words."""
