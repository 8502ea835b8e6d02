"""The catalogue of other tools' files of pairwise judgments: a module a format, with its `READER`."""
