"""What people gave the summaries of DUC 2005 to 2007: tables of responsiveness, linguistic quality and pyramid scores.

    D301 ... A 12 4              responsiveness.table, overall.table, content.table: topic, assessor, person or system,
                                 score in columns 1, 3, 4 and 5, after a header of six lines
    D301 ... A 12 3 4            linguistic_quality.table: question and score in columns 5 and 6, after seven lines
    301 12 0.31 0.28 9 1         processed_pans.txt (2005): topic, who, pyramid, modified pyramid, SCUs, repetitions
    D0701 12 0.28 9 1            2007_modified_scores.txt: topic, who, modified pyramid, SCUs, repetitions

The header lines begin with no topic's name, and that is how they are known.
"""

from __future__ import annotations

import re

from preferendum.methods.corpora.nist import Layout

_RESPONSIVENESS = Layout(3, {4: "responsiveness"}, assessor=2)
_CONTENT = Layout(3, {4: "content_responsiveness"}, assessor=2)
_LINGUISTIC = Layout(3, {5: "linguistic_quality"}, question=4, assessor=2)
_PANS = Layout(1, {2: "pyramid", 3: "modified_pyramid"})
_MODIFIED = Layout(1, {2: "modified_pyramid"})

TABLES = {
    re.compile(r"(?:responsiveness|overall)\.table", re.IGNORECASE): {5: _RESPONSIVENESS},
    re.compile(r"content\.table", re.IGNORECASE): {5: _CONTENT},
    re.compile(r"linguistic_quality\.table", re.IGNORECASE): {6: _LINGUISTIC},
    re.compile(r"processed_pans\.txt", re.IGNORECASE): {6: _PANS},
    re.compile(r".*_modified_scores\.txt", re.IGNORECASE): {5: _MODIFIED},
}

# DUC 2004, task 5: after seven header lines, the document set and the question, separated by a tab.
TOPIC_SETS = re.compile(r".*\.topicsets(?:\.txt)?", re.IGNORECASE)
TOPIC_SET = re.compile(r"(d\d{5}[a-z]?)\t+(\S.*)", re.IGNORECASE)
