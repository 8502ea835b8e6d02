"""Readers of the corpora that metrics are studied on: DUC's and TAC's."""

from preferendum.formats.readers.corpora import Corpus, register
from preferendum.methods.corpora.corpus import read_corpus, recognised

register(Corpus(recognised, read_corpus))
