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
from evaluation.records.statement import state
from preferendum.formats.judge import Judge
from preferendum.formats.records import Preference
from preferendum.metrics.names import listed_metrics, title_of
from preferendum.metrics.registry import families
from preferendum.show import citations
from tests import kept
from tests.annotate import making, scored
from tests.annotate.everything import study_once
from tests.annotate.judging_study import joined, judged, ready_study
from tests.annotate.making import owner
from tests.annotate.reading import address, rows_of, signed_in
from tests.annotate.test_latex import typeset
from tests.annotate.test_metric_pages import graded_study, judge_enough

pytestmark = pytest.mark.django_db


def reported_study() -> Study:
    made = scored.scored_study(judgments_per_pair=3)
    scored.judge(made, ("rain", "d1:0", "d1:1", "b"), pseudonym="bob")
    assert scored.tasks.catch_up(made.pk) == {}
    scored.tasks.report_annotators(made.pk)
    return made


made_study, study = study_once(reported_study)


def told(study: Study) -> str:
    """The methods once the worker has counted what there is."""
    scored.tasks.catch_up(study.pk)
    return " ".join(methods_section.plain(study_facts.of_study(Study.objects.get(pk=study.pk))).split())


def test_the_paragraph_says_what_there_is_and_who_judged(study: Study) -> None:
    text = told(study)
    facts = study_facts.of_study(study)
    openings = [paragraph.split()[0] for paragraph in methods_section.plain(facts).split("\n\n")]
    assert openings == ["We", "2", "The", "From", "Systems", "Settings"]
    assert f"{facts.topics} topic" in text
    assert f"{facts.sentences} sentences" in text
    assert f"“{study.question}”" in text
    assert (
        "2 people gave 5 judgments (imported); 1 simulated annotator gave 2 judgments, on 2 topics. Simulated" in text
    )
    assert "judgments per pair: 3" in text
    assert "(Zopf 2018)" in text
    assert "1 pair has two answers; agreement needs ten." in text
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
    assert "1 person gave 4 judgments (imported); 1 simulated annotator gave 2 judgments, on 2 topics." in told(study)
    scored.judge(study, ("rain", "d1:0", "d1:1", "b"), kind="machine", pseudonym="a model")
    assert "(imported); 1 machine gave 1 judgment; 1 simulated annotator gave" in told(study)
    assert "The machine a model gave 1 answer. " in told(study)
    assert "Judgments by machines: a model ([to be answered by you])." in methods_section.datasheet(
        study_facts.of_study(study)
    )
    scored.judge(study, ("rain", "d1:1", "d1:0", "b"), kind="machine", pseudonym="a model")
    model = Annotator.objects.get(kind="machine")
    judging.describe(model, Judge("M_1", "7b", "Which?", temperature=0.0), owner(study))
    known = f"a model (model M_1 7b; temperature 0; SHA-256 of the prompt {model.judge['prompt_sha256'][:12]}…)"
    assert f"The machine {known} gave 2 answers, about 1 pair in both orders. " in told(study)
    assert "counts; they are held against" not in told(study)
    studies.change_settings(study, owner(study), counted_kinds="people")
    text = told(study)
    assert f"The machine {known} gave 2 answers, about 1 pair in both orders. No answer by a machine counts" in text
    datasheet = methods_section.datasheet(study_facts.of_study(Study.objects.get(pk=study.pk)))
    assert f"The machine {known} gave 2 answers" in datasheet
    judging.exclude(model, owner(study), "it shirks")
    assert "The machine" not in told(study)


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
    state(study)
    assert "All people were recruited on Prolific." in told(study)


def test_it_says_how_the_pairs_were_drawn(study: Study) -> None:
    assert "drawn at random" not in told(study)  # these came with a file
    own = ready_study(sentences=12)
    annotator = joined(own)
    drawn = [judged(annotator) for _ in range(5)]
    assert "All pairs were drawn at random." in told(own)
    Assignment.objects.filter(pk__in=[one.pk for one in drawn[:3]]).update(reason=Assignment.Reason.SUGGESTED)
    state(own)
    assert "2 are about pairs drawn at random, 3 about pairs chosen adaptively." in told(own)
    Summary.objects.create(topic=own.topics.get(), system=System.objects.create(study=own, name="A"), text="Rain.")
    assert "about pairs chosen adaptively. The latter tell systems apart" in told(own)


def test_it_changes_with_the_study(study: Study) -> None:
    bob = Annotator.objects.get(study=study, pseudonym="bob")
    assert "must be chosen" not in told(study), "who chose elsewhere may have had other answers"
    judged(joined(study))
    assert "One of the two must be chosen." in told(study)
    judging.exclude(bob, owner(study), "too fast")
    studies.change_settings(study, owner(study), score="published", ties_allowed=True, reason_note=True)
    text = told(study)
    assert "1 annotator was excluded" in text
    assert "by equations 2 to 5 as published (Zopf 2018). Systems are ranked by the mean over topics. No diff" in text
    assert "counts as half a win for each side. Annotators could give a reason with each answer." in text
    assert "No judgment counts so far." in told(making.study())


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
    assert "**3.2.1 How many evaluators are there?**\n\n2 people gave 5 judgments (imported)" in text
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
    assert f"Summaries are to be evaluated by pairwise {opening}" in text
    assert ("two sentences of a topic is: “Which sentence?”" in text) == (compares != "summaries")
    assert ("two summaries of a topic is: “Which summary?”" in text) == (compares != "sentences")


def asked(compares: str = "both", **topic: object) -> Study:
    """Two topics of four sentences and two summaries."""
    study = making.study(compares=compares, question="Which sentence?", summary_question="Which summary?")
    texts = [f"The {noun} came by night." for noun in ("rain", "snow", "hail", "fog")]
    summaries = [{"system": name, "text": text} for name, text in zip(("ann", "bob"), texts[:2], strict=True)]
    documents = [{"id": "d1", "sentences": texts}]
    for number in range(2):
        record = {"topic_id": f"T{number}", "documents": documents, "summaries": summaries}
        (own,) = making.take_in(study, record | {name: str(said).format(number) for name, said in topic.items()})
        making.prepare(own)
    return study


def brought(study: Study, *, of: str, kind: str = "human") -> None:
    sides = ("ann", "bob") if of == "summaries" else ("d1:0", "d1:1")
    given = [Preference(f"T{number}", *sides, "a", annotator="p", of=of) for number in range(2)]  # type: ignore[arg-type]
    judging.import_judgments(study, given, kind)


@pytest.mark.parametrize("kind", ["human", "simulated"])
@pytest.mark.parametrize("of", ["sentences", "summaries"])
def test_it_says_nothing_of_what_nobody_answered_here(of: str, kind: str) -> None:
    study = asked()
    Study.objects.filter(pk=study.pk).update(counted_kinds="people-and-simulated")
    brought(study, of=of, kind=kind)
    text = told(study)
    facts = study_facts.of_study(Study.objects.get(pk=study.pk))
    datasheet = methods_section.datasheet(facts)
    assert "saw two" not in text
    assert "must be chosen" not in text
    assert ("estimated utilities" in text) == (of == "sentences")
    assert ("Bradley–Terry model" in text) == ("ranked by win rate" in text) == (of == "summaries")
    assert ("ranked by the mean over topics" in text) == (of == "sentences")
    assert "tested two-sided" not in text, "two judgments are too early"
    other = {"sentences": "summaries", "summaries": "sentences"}[of]
    assert f"The question about two {other} of a topic has no answer that counts" in text
    assert ("collected elsewhere [say how]" in text) == (kind == "human")
    assert text.startswith(
        "We evaluated summaries by simulated" if kind == "simulated" else "We evaluated summaries by p"
    )
    says = "Imported judgments: [to be answered by you]" if kind == "human" else "Simulated judgments: does not apply."
    for number in ("3.2.3", "3.2.4", "3.3.2", "3.3.3", "3.3.4", "3.3.5", "3.3.7", "4.3.2", "4.3.3", "4.3.4", "4.3.5"):
        assert re.search(rf"\*\*{number} .+\*\*\n\n{re.escape(says)}", datasheet), number
    assert "No two systems are tested." in datasheet


def test_who_judged_here_saw_what_others_brought_did_not_say() -> None:
    study = asked("summaries")
    studies.change_settings(study, owner(study), ties_allowed=True, judgments_per_pair=3)
    brought(study, of="summaries")
    judged(joined(Study.objects.get(pk=study.pk)))
    text = told(study)
    assert "People who judged here saw two summaries of a topic at a time and were asked: “Which summary?” Imp" in text
    assert "“Equally good” is an answer, too" in text
    datasheet = methods_section.datasheet(study_facts.of_study(Study.objects.get(pk=study.pk)))
    assert "On web pages of Preferendum. Imported judgments: [to be answered by you]" in datasheet
    assert "the first summary, the second summary, equally good. Imported" in datasheet


def test_questions_of_topics_are_counted_and_quoted() -> None:
    assert "question of" not in told(asked())
    study = asked("sentences", question="What of town {}?")
    said = "2 of 2 topics have a question of their own: “What of town 0?” and “What of town 1?”"
    place = "About sentences, a topic’s own question is asked in place of the study’s."
    assert f"{said} {place}" in told(study)
    assert f"{said} {place}" in methods_section.datasheet(study_facts.of_study(study))
    documents = [{"id": "d1", "sentences": ["Rain fell.", "Snow came."]}]
    for number in range(3):
        making.take_in(study, {"topic_id": f"U{number}", "question": "And the plot?", "documents": documents})
    making.take_in(study, {"topic_id": "none", "documents": documents})
    assert "5 of 6 topics have a question of their own: “And the plot?”, “What of town 0?” and “What" in told(study)
    making.take_in(study, {"topic_id": "V", "question": "Who won?", "documents": documents})
    assert "6 of 7 topics have a question of their own, such as “And the plot?” About sentences" in told(study)


def test_without_summaries_nothing_is_said_of_their_scores() -> None:
    study = asked("sentences")
    Summary.objects.all().delete()
    brought(study, of="sentences")
    text = told(study)
    assert "We collected pairwise preferences of source sentences (Zopf 2018). The material has 2 topics with 2" in text
    assert "estimated utilities" in text
    for said in ("ummar", "ranked", "score", "0 systems"):
        assert said not in text, said


def test_who_judged_sentences_of_a_topic_with_a_question_of_its_own_was_asked_that() -> None:
    study = asked("sentences", question="What of town {}?")
    judged(joined(study))
    assert "were asked, unless the topic has a question of its own: “Which sentence?”" in told(study)


def test_one_annotator_of_each_question_is_not_one_of_both() -> None:
    study = asked()
    brought(study, of="sentences")
    judging.import_judgments(study, [Preference("T0", "ann", "bob", "a", annotator="q", of="summaries")])
    text = told(study)
    assert "2 people gave 3 judgments (imported). In all: 2 about sentences, 1 about summaries, on 2 topics." in text
    assert "Whole summaries: It is too early" in text
    assert "Sentences: It is too early" in text


def test_outputs_are_counted_once(study: Study) -> None:
    Summary.objects.filter(system__name="=hat").update(person=True)
    facts = study_facts.of_study(study)
    assert "5 summaries by 2 systems and 1 person on 2 topics." in methods_section.datasheet(facts)
    assert "5 summaries by 2 systems and 1 person." in methods_section.plain(facts)
