"""What a paper says of a study: true of it, in words, in LaTeX that compiles, and as a datasheet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotate import crowd, judging, studies
from annotate.audit_log import note
from annotate.models import Annotator, Assignment, AuditEntry, Study, Summary, System
from annotate.reports import methods_section, study_facts
from annotate.reports.rests_on import of_study
from preferendum.metrics.names import listed_metrics, title_of
from preferendum.metrics.registry import families
from preferendum.show import citations
from tests import kept
from tests.annotate import making, scored
from tests.annotate.judging_study import joined, judged, ready_study
from tests.annotate.making import owner
from tests.annotate.reading import address, rows_of, signed_in
from tests.annotate.test_latex import typeset
from tests.annotate.test_metric_pages import graded_study, judge_enough

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    made = scored.scored_study(judgments_per_pair=3)
    scored.judge(made, ("rain", "d1:0", "d1:1", "b"), pseudonym="bob")
    assert scored.tasks.catch_up(made.pk) == {}
    scored.tasks.report_annotators(made.pk)
    return made


def told(study: Study) -> str:
    return " ".join(methods_section.plain(study_facts.of_study(Study.objects.get(pk=study.pk))).split())


def test_the_paragraph_says_what_there_is_and_who_judged(study: Study) -> None:
    text = told(study)
    facts = study_facts.of_study(study)
    openings = [paragraph.split()[0] for paragraph in methods_section.plain(facts).split("\n\n")]
    assert openings == ["We", "The", "Annotators", "From", "Systems", "Settings"]
    assert f"{facts.topics} topic" in text
    assert f"{facts.sentences} sentences" in text
    assert f"“{study.question}”" in text
    assert f"rest on {of_study(study).counted.total} judgments" in text
    assert "(5 by people (imported), 2 simulated). Annotators: 2 people. Simulated judgments were drawn" in text
    assert "judgments per pair: 3" in text
    assert "(Zopf 2018)" in text
    assert "judged: 1, too few for a coefficient of agreement" in text
    assert "[[" not in text


def test_every_noun_of_the_paragraph_has_a_figure_on_a_page() -> None:
    """Metrics, tests and agreement are named where their pages have figures, and nowhere else."""
    study = graded_study()
    client = signed_in(study)
    assert "compared with ROUGE-1" in told(study), "three judgments are too early for the scores"
    judge_enough(study)
    rows = rows_of(client, address(study, "metric-agreement", "agreement"))
    figures = {title_of(row["metric"]) for row in rows if row["agreement"] and row["low"]}
    (compared,) = re.findall(r"compared with (.*?) by the share", told(study))
    assert compared.startswith("the scores, ROUGE-1 (Lin 2004), ")
    named = {title for name in listed_metrics(study.metric_names) if (title := title_of(name)) in compared}
    assert "Pyramid" not in named
    assert named <= figures
    assert any(row["p"] for row in rows)
    assert "with intervals and tests by resampling" in told(study)
    assert "alpha" not in told(study), "no pair was judged twice"
    kept.rows("intervals", study=study).delete()
    assert "compared with" not in told(study)


def test_what_the_product_plans_by_size_is_no_deviation_and_what_a_person_sets_is() -> None:
    study = ready_study(sentences=12)
    studies.plan_judgments(study)
    planned = Study.objects.get(pk=study.pk).judgments_per_topic
    assert planned != Study._meta.get_field("judgments_per_topic").default
    assert "judgments per topic" not in told(study)
    studies.change_settings(study, owner(study), judgments_per_topic=planned + 1)
    assert f"judgments per topic: {planned + 1}" in told(study)


def test_machines_and_simulations_are_not_counted_among_people() -> None:
    study = scored.scored_study(counted_kinds="all")
    assert "Annotators: 1 person. Simulated" in told(study)
    scored.judge(study, ("rain", "d1:0", "d1:1", "b"), kind="machine", pseudonym="a model")
    assert "Annotators: 1 person and 1 machine. Simulated" in told(study)


def test_those_who_judged_were_recruited_where_they_came_from() -> None:
    study = ready_study(sentences=6)
    crowd.recruit(study, owner(study), platform="prolific", code_done="A", code_no_work="B", code_screened_out="C")
    judged(joined(study))
    crowd.enter(study, making.prolific(9), "s")  # comes, and judges nothing
    assert "recruited" not in told(study)
    assert "By invitation links." in methods_section.datasheet(study_facts.of_study(study))
    judged(crowd.enter(study, making.prolific(1), "s"))
    assert "1 of 2 people were recruited on Prolific." in told(study)
    assert "1 of 2 people were recruited on Prolific." in methods_section.datasheet(study_facts.of_study(study))
    Annotator.objects.filter(participation=None).update(kind="simulated")
    assert "All people were recruited on Prolific." in told(study)


def test_it_says_how_the_pairs_were_drawn(study: Study) -> None:
    assert "drawn at random" not in told(study)  # these came with a file
    own = ready_study(sentences=12)
    annotator = joined(own)
    drawn = [judged(annotator) for _ in range(5)]
    assert "All pairs were drawn at random." in told(own)
    Assignment.objects.filter(pk__in=[one.pk for one in drawn[:3]]).update(reason=Assignment.Reason.SUGGESTED)
    assert "2 were drawn at random and 3 chosen adaptively." in told(own)
    Summary.objects.create(topic=own.topics.get(), system=System.objects.create(study=own, name="A"), text="Rain.")
    assert "3 chosen adaptively. The latter tell systems apart" in told(own)


def test_it_changes_with_the_study(study: Study) -> None:
    bob = Annotator.objects.get(study=study, pseudonym="bob")
    assert "One of the two must be chosen." in told(study)
    judging.exclude(bob, owner(study), "too fast")
    studies.change_settings(study, owner(study), score="published", ties_allowed=True, reason_note=True)
    text = told(study)
    assert "1 annotator was excluded" in text
    assert "by equations 2 to 5 as published (Zopf 2018). Systems are ranked by the mean over topics. No diff" in text
    assert "counts as half a win for each side. Annotators could give a reason with each answer." in text
    assert "No judgment has been collected so far." in told(making.study())


def test_it_says_which_settings_people_changed_after_the_first_judgment() -> None:
    study = ready_study(sentences=12)
    studies.change_settings(study, owner(study), gold_share=0.1)
    judged(joined(study))
    note(study, None, "plan judgments", judgments_per_topic=[20, 30])
    assert "After the first judgment" not in told(study)
    studies.change_settings(study, owner(study), judgments_per_pair=3, question="Which?", title="Snow")
    studies.change_settings(study, owner(study), judgments_per_pair=2)
    day = AuditEntry.objects.filter(study=study).latest("number").at.date().isoformat()
    expected = f"judgments per pair: 3 (until {day}: 1); question (on {day}); judgments per pair: 2 (until {day}: 3)."
    assert f"After the first judgment, settings were changed: {expected}" in told(study)


def test_what_is_cited_is_in_the_bibliography_and_both_compile(tmp_path: Path) -> None:
    study = graded_study()
    studies.change_settings(study, owner(study), question=r"Which is 100% \better{} & why_so?")
    facts = study_facts.of_study(Study.objects.get(pk=study.pk))
    latex, bibtex = methods_section.latex(facts), methods_section.bibtex(facts)
    cited = set(",".join(re.findall(r"\\cite\{([^}]+)\}", latex)).split(","))
    entries = set(re.findall(r"@\w+\{([^,]+),", bibtex))
    assert citations.ZOPF in cited
    assert cited <= entries
    assert {"lin-2004-rouge", "preferendum"} <= entries
    typeset(latex, tmp_path)


def test_every_entry_has_what_a_bibliography_needs() -> None:
    for key, citation in citations.CITATIONS.items():
        entry = citation.bibtex
        assert re.match(rf"@\w+\{{{key},\n", entry)
        assert {"author", "title", "year"} <= citation.fields.keys()
        assert entry.count("{") == entry.count("}")
        assert citation.fields["year"] in citation.short
    assert {family.cites for family in families()} - {""} <= citations.CITATIONS.keys()
    assert citations.of_metric("rouge-su4:f") == "lin-2004-rouge"
    assert citations.of_metric("given:mine") is None


def test_the_datasheet_has_every_question_once_and_leaves_open_what_nobody_told_it(study: Study) -> None:
    studies.change_settings(study, owner(study), question="Which is <b>better</b> & why?")
    facts = study_facts.of_study(Study.objects.get(pk=study.pk))
    text = methods_section.datasheet(facts)
    numbers = re.findall(r"^\*\*(\d[\d.]+) ", text, re.MULTILINE)
    assert len(numbers) == len(set(numbers)) == 3 + 5 + 3 + 5 + 8 + 6 + 11 + 4
    assert re.findall(r"^\*\*.+\*\*\n\n(?:\n|\s*$)", text, re.MULTILINE) == [], "no answer is empty"
    assert "**4.3.7 What exactly are they asked each time?**\n\nWhich is <b>better</b> & why?\n" in text
    assert "**3.1.2 How were they chosen?**\n\n[to be answered by you]\n" in text
    assert "**3.2.1 How many evaluators are there?**\n\n2 people, with" in text
    page = signed_in(study).get(reverse("study_methods", args=[study.pk])).content.decode()
    assert "Which is &lt;b&gt;better&lt;/b&gt; &amp; why?</p>" in page
    assert "<h4>4.3 Responses</h4>" in page


def test_the_page_has_all_of_it_in_few_queries(study: Study, django_assert_max_num_queries) -> None:
    client: Client = signed_in(study)
    with django_assert_max_num_queries(20):
        text = client.get(reverse("study_methods", args=[study.pk])).content.decode()
    assert "to be answered by you" in text
    assert "@inproceedings{zopf-2018-estimating" in text
    for form, start in (("tex", "We evaluated"), ("bib", "@"), ("md", "# Human Evaluation Datasheet")):
        response = client.get(reverse(f"study_methods_{form}", args=[study.pk]))
        assert response.content.decode().startswith(start)
        assert f'.{form}"' in response["Content-Disposition"]
    assert (
        reverse("study_methods", args=[study.pk])
        in client.get(reverse("leaderboard", args=[study.pk])).content.decode()
    )


@pytest.mark.parametrize(
    ("compares", "opening"),
    [
        ("sentences", "preferences of source sentences (Zopf 2018). "),
        ("summaries", "preferences of whole summaries. "),
        ("both", "preferences of source sentences (Zopf 2018) and of whole summaries. "),
    ],
)
def test_it_says_what_was_compared_under_which_question(compares: str, opening: str) -> None:
    study = making.study(compares=compares, question="Which sentence?", summary_question="Which summary?")
    text = told(study)
    datasheet = methods_section.datasheet(study_facts.of_study(study))
    assert f"\n\n{' / '.join(study.questions.values())}\n\n" in datasheet
    assert ("Evaluators judge pairs of outputs" in datasheet) == (compares != "sentences")
    assert opening in text
    assert ("two sentences of a topic is: “Which sentence?”" in text) == (compares != "summaries")
    assert ("two summaries of a topic is: “Which summary?”" in text) == (compares != "sentences")
    assert ("ranked by the mean over topics, with 95% intervals" in text) == (compares == "sentences")
    assert ("ranked by win rate" in text) == (compares != "sentences")
    assert text.count("are ranked by") == 1
    assert ("(Zermelo 1929; Bradley and Terry 1952), with" in text) == (compares != "summaries")
