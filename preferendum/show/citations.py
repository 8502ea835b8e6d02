"""What a paper about a study should cite: the sources of its scores, figures and metrics, as BibTeX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from preferendum.metrics.registry import family_of
from preferendum.show.latex import escaped


@dataclass(frozen=True, slots=True)
class Citation:
    """A publication. `short`: how a text names it; `kind` and `fields`: as BibTeX has them, without braces around.

    Braces within a title keep the capitals of names, which BibTeX's styles make small letters. An author without a
    comma is a group, whose name is not split.
    """

    short: str
    kind: str
    fields: Mapping[str, str]

    def bibtex(self, key: str) -> str:
        """The entry under this key."""
        fields = {name: escaped(value).replace(r"\{", "{").replace(r"\}", "}") for name, value in self.fields.items()}
        if "," not in fields["author"]:
            fields["author"] = f"{{{fields['author']}}}"
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
        return "\n".join([f"@{self.kind}{{{key},", *lines, "}"])


def _paper(short: str, author: str, title: str, booktitle: str, year: str, pages: str) -> Citation:
    given = {"author": author, "title": title, "booktitle": booktitle, "year": year, "pages": pages}
    return Citation(short, "inproceedings", given)


def _in_journal(short: str, author: str, title: str, journal: str, year: str, volume: str, pages: str) -> Citation:
    given = {"author": author, "title": title, "journal": journal, "year": year, "volume": volume, "pages": pages}
    return Citation(short, "article", given)


ZOPF = "zopf-2018-estimating"
PROGRAM = "preferendum"
#: The day on which the version of `preferendum/__init__.py` was released.
RELEASED = "2026-11-25"
CITATIONS: Mapping[str, Citation] = {
    ZOPF: _paper(
        "Zopf 2018",
        "Zopf, Markus",
        "Estimating Summary Quality with Pairwise Preferences",
        "Proceedings of the 2018 Conference of the North American Chapter of the Association for Computational "
        "Linguistics: Human Language Technologies, Volume 1 (Long Papers)",
        "2018",
        "1687--1696",
    ),
    "zermelo-1929-berechnung": _in_journal(
        "Zermelo 1929",
        "Zermelo, Ernst",
        "Die {Berechnung} der {Turnier-Ergebnisse} als ein {Maximumproblem} der {Wahrscheinlichkeitsrechnung}",
        "Mathematische Zeitschrift",
        "1929",
        "29",
        "436--460",
    ),
    "bradley-terry-1952-rank": _in_journal(
        "Bradley and Terry 1952",
        "Bradley, Ralph Allan and Terry, Milton E.",
        "Rank Analysis of Incomplete Block Designs: {I}. {The} Method of Paired Comparisons",
        "Biometrika",
        "1952",
        "39",
        "324--345",
    ),
    "simpson-gurevych-2018-finding": _in_journal(
        "Simpson and Gurevych 2018",
        "Simpson, Edwin and Gurevych, Iryna",
        "Finding Convincing Arguments Using Scalable {Bayesian} Preference Learning",
        "Transactions of the Association for Computational Linguistics",
        "2018",
        "6",
        "357--371",
    ),
    "holm-1979-simple": _in_journal(
        "Holm 1979",
        "Holm, Sture",
        "A Simple Sequentially Rejective Multiple Test Procedure",
        "Scandinavian Journal of Statistics",
        "1979",
        "6",
        "65--70",
    ),
    "krippendorff-2004-content": Citation(
        "Krippendorff 2004",
        "book",
        {
            "author": "Krippendorff, Klaus",
            "title": "Content Analysis: An Introduction to Its Methodology",
            "publisher": "Sage",
            "year": "2004",
            "edition": "2nd",
        },
    ),
    "fleiss-1971-measuring": _in_journal(
        "Fleiss 1971",
        "Fleiss, Joseph L.",
        "Measuring Nominal Scale Agreement Among Many Raters",
        "Psychological Bulletin",
        "1971",
        "76",
        "378--382",
    ),
    "lin-2004-rouge": _paper(
        "Lin 2004",
        "Lin, Chin-Yew",
        "{ROUGE}: A Package for Automatic Evaluation of Summaries",
        "Text Summarization Branches Out",
        "2004",
        "74--81",
    ),
    "nenkova-passonneau-2004-evaluating": _paper(
        "Nenkova and Passonneau 2004",
        "Nenkova, Ani and Passonneau, Rebecca",
        "Evaluating Content Selection in Summarization: The {Pyramid} Method",
        "Proceedings of the Human Language Technology Conference of the North American Chapter of the Association for "
        "Computational Linguistics: HLT-NAACL 2004",
        "2004",
        "145--152",
    ),
    "louis-nenkova-2013-automatically": _in_journal(
        "Louis and Nenkova 2013",
        "Louis, Annie and Nenkova, Ani",
        "Automatically Assessing Machine Summary Content Without a Gold Standard",
        "Computational Linguistics",
        "2013",
        "39",
        "267--300",
    ),
    "giannakopoulos-etal-2008-summarization": _in_journal(
        "Giannakopoulos et al. 2008",
        "Giannakopoulos, George and Karkaletsis, Vangelis and Vouros, George and Stamatopoulos, Panagiotis",
        "Summarization System Evaluation Revisited: {N}-Gram Graphs",
        "ACM Transactions on Speech and Language Processing",
        "2008",
        "5",
        "1--39",
    ),
    "oliveira-etal-2008-evaluating": Citation(
        "de Oliveira et al. 2008",
        "inproceedings",
        {
            "author": "de Oliveira, Paulo C. F. and Torrens, Edson Wilson and Cidral, Alexandre and Schossland, Sidney "
            "and Bittencourt, Evandro",
            "title": "Evaluating Summaries Automatically: A System Proposal",
            "booktitle": "Proceedings of the Sixth International Conference on Language Resources and Evaluation "
            "(LREC'08)",
            "year": "2008",
        },
    ),
    "rankel-etal-2012-better": _in_journal(
        "Rankel et al. 2012",
        "Rankel, Peter A. and Conroy, John M. and Schlesinger, Judith D.",
        "Better Metrics to Automatically Predict the Quality of a Text Summary",
        "Algorithms",
        "2012",
        "5",
        "398--420",
    ),
    "luo-etal-2022-prefscore": Citation(
        "Luo et al. 2022",
        "inproceedings",
        {
            "author": "Luo, Ge and Li, Hebi and He, Youbiao and Bao, Forrest Sheng",
            "title": "{PrefScore}: Pairwise Preference Learning for Reference-free Summarization Quality Assessment",
            "booktitle": "Proceedings of the 29th International Conference on Computational Linguistics",
            "year": "2022",
        },
    ),
    "deutsch-etal-2021-statistical": _in_journal(
        "Deutsch et al. 2021",
        "Deutsch, Daniel and Dror, Rotem and Roth, Dan",
        "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods",
        "Transactions of the Association for Computational Linguistics",
        "2021",
        "9",
        "1132--1146",
    ),
    "rankel-etal-2011-ranking": _paper(
        "Rankel et al. 2011",
        "Rankel, Peter and Conroy, John M. and Slud, Eric V. and O'Leary, Dianne P.",
        "Ranking Human and Machine Summarization Systems",
        "Proceedings of the 2011 Conference on Empirical Methods in Natural Language Processing",
        "2011",
        "467--473",
    ),
    "shimorina-belz-2022-human": _paper(
        "Shimorina and Belz 2022",
        "Shimorina, Anastasia and Belz, Anya",
        "The Human Evaluation Datasheet: A Template for Recording Details of Human Evaluation Experiments in {NLP}",
        "Proceedings of the 2nd Workshop on Human Evaluation of NLP Systems (HumEval)",
        "2022",
        "54--75",
    ),
}


def of_metric(name: str) -> str | None:
    """The key of the paper of a metric, if we know it."""
    family = family_of(name.partition(":")[0])
    return family.cites or None if family else None


def program(version: str) -> Citation:
    """The program itself."""
    return Citation(
        "Preferendum",
        "misc",
        {
            "author": "The Preferendum authors",
            "title": "Preferendum: Ranking Text Summarizers by Pairwise Preferences",
            "year": RELEASED[:4],
            "note": f"Version {version}",
        },
    )


def bibtex(keys: Iterable[str], version: str) -> str:
    """A file of these publications, and of the program, each once."""
    entries = {key: CITATIONS[key] for key in keys if key != PROGRAM} | {PROGRAM: program(version)}
    return "\n\n".join(entry.bibtex(key) for key, entry in entries.items()) + "\n"
