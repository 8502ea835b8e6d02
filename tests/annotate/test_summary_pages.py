"""What annotators see of two whole summaries: the texts, the question, the sources, and never whose they are."""

from __future__ import annotations

import math
import re
from itertools import combinations
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate import imports, invitations, judging
from annotate.forms import GoldPairForm
from annotate.judging import NoPair
from annotate.models import Assignment, AuditEntry, Item, Pair, Study, Suggestion, Upload
from annotate.refusal import Refusal
from annotate.reports.leaderboard import what_is_missing
from annotate.reports.study import Next, look_at, study_lines
from evaluation import tasks
from tests.annotate import making
from tests.annotate.judging_study import joined, report_annotators
from tests.annotate.making import lines
from tests.annotate.test_judge_pages import HTMX, answer, begin, page_of

pytestmark = pytest.mark.django_db

#: No word of a page has these in it by accident.
SYSTEMS = ("zyxgpt", "qwvlead", "xjlong")


def record(name: str = "M1", **fields: Any) -> dict[str, Any]:
    summaries = [
        {"system": system, "text": f"What number {number} says of {name}.\n\nAll of it."}
        for number, system in enumerate(SYSTEMS)
    ]
    documents = [{"id": f"d{number}", "sentences": [f"Source {number} of {name}."]} for number in range(2)]
    return {"topic_id": name, "title": f"Topic {name}", "documents": documents, "summaries": summaries} | fields


def study_of(*records: dict[str, Any], **settings: Any) -> Study:
    made = making.study(**{"compares": "summaries", "summary_question": "Which one is better?"} | settings)
    making.store(made, lines(*records), "topics.jsonl")
    return made


def begun(study: Study, client: Client) -> Assignment:
    return begin(client, invitations.invitation_path(invitations.invite(study, making.owner(study))))


def text_of(client: Client, path: str, **extra: Any) -> str:
    response = client.get(path, **extra)
    assert response.status_code == 200, path
    return response.content.decode()


def test_a_pair_of_summaries_shows_both_whole_under_the_question_about_summaries(client: Client) -> None:
    pair = begun(study_of(record(question="What of the flood?")), client)
    html = text_of(client, page_of(pair))
    assert "Which one is better?" in html
    assert "What of the flood?" not in html
    assert html.count(".\n\nAll of it.") == 2
    assert "Topic M1" in html
    assert "Not a sentence" not in html
    assert "Both say the same" in html


def test_the_source_documents_are_one_link_away(client: Client) -> None:
    pair = begun(study_of(record(), record("M2")), client)
    here = reverse("sources", args=[pair.key])
    assert f'href="{here}" data-drawer' in text_of(client, page_of(pair))
    other = "M2" if pair.item_set.topic.name == "M1" else "M1"
    for html in (text_of(client, here), text_of(client, here, headers=HTMX)):
        assert f"Source 0 of {pair.item_set.topic.name}." in html
        assert f"Source 1 of {pair.item_set.topic.name}." in html
        assert f"of {other}." not in html
    assert Client().get(here).status_code == 404


def test_a_summary_has_no_context_of_its_own(client: Client) -> None:
    pair = begun(study_of(record()), client)
    assert client.get(reverse("context", args=[pair.key, "left"])).status_code == 404


def test_summaries_without_source_documents_stand_under_their_prompt(client: Client) -> None:
    prompted = study_of(record(documents=[], question="Write of the flood."))
    pair = begun(prompted, client)
    assert "beside every pair" not in text_of(client, reverse("guidelines", args=[pair.annotator.key]))
    html = text_of(client, page_of(pair))
    assert '<p class="prompt given" lang="en" dir="auto">Write of the flood.</p>' in html
    assert "data-drawer>source" not in html
    assert client.get(reverse("sources", args=[pair.key])).status_code == 404
    html = text_of(client, page_of(begun(study_of(record("M9", documents=[])), client)))
    assert html.count("Topic M9") == 1  # the title is the prompt, and stands once


@pytest.mark.parametrize(("given", "words"), [("tie", "equally good"), ("neither", "both are bad")])
def test_an_answer_about_summaries_is_saved_in_their_words(client: Client, given: str, words: str) -> None:
    study = study_of(record(), ties_allowed=True, neither_allowed=True)
    pair = begun(study, client)
    said = answer(client, pair, given, follow=True).content.decode()
    assert f"Saved: {words}." in said
    assert 'data-said="The first summary"' in said
    judged = text_of(client, page_of(pair))
    assert words.capitalize() in judged
    assert 'class="cards whole"' in judged


@pytest.mark.parametrize(
    ("compares", "words"),
    [
        ("sentences", "You are invited to compare sentences."),
        ("summaries", "You are invited to compare summaries."),
        ("both", "You are invited to compare sentences and whole summaries."),
    ],
)
def test_an_invitation_says_what_is_compared_and_asks_no_other_question(client, compares, words) -> None:
    study = study_of(record(), compares=compares, question="Which sentence?")
    html = text_of(client, invitations.invitation_path(invitations.invite(study, making.owner(study))))
    assert words in html
    assert ("Which sentence?" in html) == (compares != "summaries")
    assert ("Which one is better?" in html) == (compares != "sentences")
    assert ("Judge what a summary says" in html) == (compares != "sentences")
    assert ("Judge what a sentence says" in html) == (compares != "summaries")


def test_no_page_of_an_annotator_names_a_system(client: Client) -> None:
    study = study_of(record(), record("M2"), compares="summaries")
    pair = begun(study, client)
    key = pair.annotator.key
    seen = [text_of(client, page_of(pair)), text_of(client, reverse("sources", args=[pair.key]))]
    seen.append(client.post(f"{page_of(pair)}ahead/").content.decode())
    script = {"HX-Request": "true", "Judge-Showing": page_of(pair)}
    sent = {"answer": "left", "revision": 1}
    seen.append(client.post(page_of(pair), sent, headers=script).content.decode())
    seen.append(text_of(client, page_of(pair)))
    for name in ("progress", "guidelines", "my_data", "my_data_file"):
        seen.append(text_of(client, reverse(name, args=[key])))
    assert any("What number" in html for html in seen)
    for html in seen:
        assert not [system for system in SYSTEMS if system in html]


@pytest.mark.parametrize(("compares", "minutes"), [("sentences", 4), ("both", 33), ("summaries", 63)])
def test_minutes_are_reckoned_by_the_words_to_be_read(client: Client, compares: str, minutes: int) -> None:
    summaries = [{"system": system, "text": f"abcd{n} " * 237 + "abcde."} for n, system in enumerate(SYSTEMS)]
    # as many topics as it takes for thirty pairs of either kind
    study = study_of(*(record(f"M{n}", summaries=summaries) for n in range(30)), compares=compares)
    link = invitations.invitation_path(invitations.invite(study, making.owner(study)))
    assert f"It takes about {minutes} minutes." in text_of(client, link)
    pair = begin(client, link)
    assert f"about {minutes} minutes left" in text_of(client, page_of(pair))
    annotator = pair.annotator
    summaries = annotator.summaries_among(9)
    annotator.judged = 9
    expected = summaries * annotator.summary_pace + (9 - summaries) * annotator.pace
    everything = annotator.summaries_among(30) * annotator.summary_pace
    everything += (30 - annotator.summaries_among(30)) * annotator.pace
    annotator.seconds = 2 * expected + everything / 30  # twice as slow, of pairs as long as these were
    assert annotator.progress.minutes_left == math.ceil(2 * (everything - expected) / 60)


def arena(**settings: Any) -> Study:
    """A study of prompts, as the worker stores it."""
    study = making.study(**settings)
    upload = making.receive(study, lines(*(record(f"P{n}", documents=[]) for n in range(2))))
    tasks.process_upload(upload.pk)
    imports.confirm(Upload.objects.get(pk=upload.pk), making.owner(study))
    tasks.process_upload(upload.pk)
    study.refresh_from_db()
    return study


@pytest.mark.parametrize("compares", ["sentences", "both"])
def test_a_new_study_of_prompts_compares_their_outputs_and_says_nothing_of_sentences(client, compares) -> None:
    study = arena(compares=compares)
    assert study.compares == "summaries"
    assert AuditEntry.objects.filter(detail={"changes": {"compares": [compares, "summaries"]}}).exists()
    assert look_at(study).next == Next.INVITE
    assert what_is_missing(study) == "judgments"
    pair = begun(study, client)
    answer(client, pair)
    assert what_is_missing(study) == "worker"
    overview = look_at(study)
    assert (overview.next, overview.judgments, overview.wanted) == (Next.COLLECT, 1, 6)  # three pairs a prompt
    client.force_login(making.owner(study))
    assert "entences" not in text_of(client, reverse("study", args=[study.pk])).partition("<footer")[0]
    here = reverse("topic", args=[study.pk, study.topics.first().pk])
    assert "people compare its summaries as a whole" in text_of(client, here)
    assert "needs documents" not in text_of(client, reverse("study_topics", args=[study.pk]))
    (line,) = study_lines(Study.objects.filter(pk=study.pk))
    assert (line.topics, line.wanted, line.done) == (2, 6, 1)


def test_a_study_that_was_judged_keeps_what_it_asks(client: Client) -> None:
    study = study_of(record(), compares="sentences")
    answer(client, begun(study, client))
    imports.remove(study, making.owner(study), "topic", str(study.topics.get().pk))
    upload = making.receive(study, lines(record("P1", documents=[])))
    tasks.process_upload(upload.pk)
    imports.confirm(Upload.objects.get(pk=upload.pk), making.owner(study))
    tasks.process_upload(upload.pk)
    study.refresh_from_db()
    assert study.compares == "sentences"


def test_a_practice_pair_of_summaries_is_prepared_by_system_and_explained_in_their_words(client: Client) -> None:
    study = study_of(record(), compares="both", training=True, training_threshold=0.0)
    owner = Client()
    owner.force_login(making.owner(study))
    page = reverse("gold_pairs", args=[study.pk])
    sent = {"topic": study.topics.get().pk, "use": "training", "explanation": "It says more."}
    mixed = owner.post(page, sent | {"better": SYSTEMS[0], "worse": "d0:0"})
    assert "Both must be sentences, or both summaries, of the same topic" in mixed.content.decode()
    assert f"{SYSTEMS[1]} What number 1 says of M1. All of it." in mixed.content.decode()
    assert owner.post(page, sent | {"better": SYSTEMS[0], "worse": SYSTEMS[1]}).status_code == 302
    html = text_of(owner, page)
    assert "is better than" in html
    assert SYSTEMS[0] in html
    pair = begun(study, client)
    assert pair.item_set.of == "summaries"
    wrong = "right" if pair.expected == "left" else "left"
    html = answer(client, pair, wrong, follow=True).content.decode()
    assert "The other one is better" in html
    assert "It says more." in html
    assert not [system for system in SYSTEMS if system in html]


def test_a_study_offers_for_gold_pairs_what_it_asks_about() -> None:
    study = study_of(record(), compares="summaries")
    topic = study.topics.select_related("study").get()
    assert [name.split()[0] for name in GoldPairForm(topic).sentences()] == sorted(SYSTEMS)
    topic.study.compares = "sentences"
    assert [name.split()[0] for name in GoldPairForm(topic).sentences()] == ["d0:0", "d1:0"]


def test_a_reported_pair_of_summaries_leads_researchers_to_the_summaries(client: Client) -> None:
    study = study_of(record())
    pair = begun(study, client)
    client.post(f"{page_of(pair)}skip/", {"reason": "other", "report": "same"})
    owner = Client()
    owner.force_login(making.owner(study))
    html = text_of(owner, reverse("reported_pairs", args=[study.pk]))
    assert pair.left.system in html
    assert owner.get(reverse("sentence", args=[study.pk, pair.left.pk]), follow=True).status_code == 200
    client.force_login(making.person())
    assert client.get(reverse("sentence", args=[study.pk, pair.left.pk])).status_code == 404


@pytest.mark.parametrize(
    "same",
    ["The  river\trose. ", "The\u00a0river rose.\n", "The\u3000river rose.", "The river\u200b rose.", "Theriver rose."],
)
def test_two_summaries_that_read_the_same_are_never_compared(same: str) -> None:
    summaries = [{"system": "zyxgpt", "text": "The river rose."}, {"system": "qwvlead", "text": same}]
    study = study_of(record(summaries=summaries), judgments_per_pair=2)
    first, second = Item.objects.filter(item_set__study=study, item_set__of="summaries")
    Suggestion.objects.create(item_set=first.item_set, first=first, second=second, rank=0)
    Pair.objects.create(item_set=first.item_set, first=first, second=second, need=2, taken=1)
    assert judging.draw(joined(study)) == NoPair.NO_WORK
    with pytest.raises(Refusal):
        judging.prepare_pair(study, making.owner(study), better=first, worse=second, use="gold")


def test_the_worker_suggests_no_two_summaries_that_read_the_same() -> None:
    texts = ["The river rose.", "The  river rose.\n", "The river\u00a0rose.", "It fell."]
    summaries = [{"system": f"s{number}", "text": text} for number, text in enumerate(texts)]
    study = study_of(record(summaries=summaries))
    tasks.rank_by_summaries(study.pk)
    suggested = Suggestion.objects.filter(item_set__study=study)
    assert suggested.exists()
    assert all("It fell." in (own.first.text, own.second.text) for own in suggested)


@pytest.mark.parametrize(
    ("documents", "missing"),
    [({}, "No judgment counts here yet"), ({"documents": []}, "documents: people judge their")],
)
def test_a_leaderboard_of_the_question_that_nobody_answered_does_not_wait_for_the_worker(
    client: Client, documents: dict[str, Any], missing: str
) -> None:
    study = study_of(record(**documents), compares="both")
    first, second, _third = SYSTEMS
    said = {"topic": "M1", "of": "summaries", "a": first, "b": second, "winner": "a"}
    making.store(study, lines(said), "preferences.jsonl")
    tasks.catch_up(study.pk)
    client.force_login(making.owner(study))
    for address in (
        reverse("leaderboard", args=[study.pk]),
        reverse("topic_leaderboard", args=[study.pk, study.topics.get().pk]),
    ):
        assert first in text_of(client, address)
        board = text_of(client, f"{address}?scored_by=recommended")
        assert missing in board
        assert "being computed" not in board
        assert "No worker is running" not in board


def answered(*answers: tuple[str, str, str], **fields: Any) -> Study:
    """A study of one topic whose answers, by whom and between which two systems, were given elsewhere."""
    study = study_of(record(**fields), compares=fields.pop("compares", "summaries"))
    said = [
        {"topic": "M1", "of": "summaries", "a": first, "b": second, "winner": "a"} | ({"annotator": by} if by else {})
        for by, first, second in answers
    ]
    making.store(study, lines(*said), "preferences.jsonl")
    tasks.catch_up(study.pk)
    return study


def test_no_two_win_rates_are_more_than_a_hundred_points_apart(client: Client) -> None:
    first, second, _third = SYSTEMS
    study = answered(("w1", first, second))
    client.force_login(making.owner(study))
    for address in (
        reverse("analysis", args=[study.pk, "two-systems"]),
        f"{reverse('leaderboard', args=[study.pk])}?against={first}",
    ):
        ends = [int(end) for two in re.findall(r"\[(-?\d+), (-?\d+)\]", text_of(client, address)) for end in two]
        assert ends
        assert all(-100 <= end <= 100 for end in ends)


def test_once_summaries_are_ranked_no_steps_to_a_first_result_are_left(client: Client) -> None:
    first, second, _third = SYSTEMS
    assert look_at(study_of(record())).steps
    assert look_at(answered(("w1", first, second))).steps == []


def test_where_every_pair_has_its_answers_nobody_is_told_to_ask_for_more_of_them(client: Client) -> None:
    study = answered(*(("w1", *two) for two in combinations(SYSTEMS, 2)))
    client.force_login(making.owner(study))
    overview = text_of(client, reverse("study", args=[study.pk]))
    assert "All judgments are in" in overview
    assert "request more judgments" not in overview
    assert reverse("analysis", args=[study.pk, "forecast"]) in overview.partition("</section>")[0]
    forecast = text_of(client, reverse("analysis", args=[study.pk, "forecast"]))
    assert "Pairs of summaries have all their answers: more take more topics" in forecast


def test_a_study_of_summaries_says_of_no_sentence_that_people_judge_it(client: Client) -> None:
    study = study_of(record())
    client.force_login(making.owner(study))
    document = study.topics.get().documents.first()
    for address in (
        reverse("study", args=[study.pk]),
        reverse("topic_documents", args=[study.pk, study.topics.get().pk]),
        reverse("workbench", args=[study.pk, study.topics.get().pk, document.pk]),
    ):
        page = text_of(client, address)
        for untrue in ("Check the sentences", "that people will judge", "People compare these sentences"):
            assert untrue not in page


def test_nobody_knows_who_repeats_an_answer_that_nobody_signed(client: Client) -> None:
    first, second, _third = SYSTEMS
    study = answered(*(("", first, second) for _ in range(3)))
    report_annotators(study)
    figures = study.annotators.get().report.record.figures
    assert figures["repeats"].n == 0
    client.force_login(making.owner(study))
    assert "No pair is known to have been judged by two" in text_of(
        client, reverse("analysis", args=[study.pk, "agreement-of-annotators"])
    )


def test_of_imported_answers_no_side_and_no_quota_is_claimed(client: Client) -> None:
    study = study_of(record(), record("M2"), compares="sentences")
    making.store(study, lines({"topic": "M1", "a": "d0:0", "b": "d1:0", "winner": "a", "annotator": "w1"}), "p.jsonl")
    tasks.catch_up(study.pk)
    client.force_login(making.owner(study))
    sentence = Item.objects.of_sources(study).first()
    page = text_of(client, reverse("sentence", args=[study.pk, sentence.pk]))
    assert "shown on the" not in page
    assert "imported" in page
    assert "/ 30" not in text_of(client, reverse("study_annotators", args=[study.pk]))
    assert "of 30" not in text_of(client, reverse("study_annotator", args=[study.pk, study.annotators.get().pk]))


@pytest.mark.parametrize("documents", [{}, {"documents": []}])
def test_the_datasheet_holds_summaries_against_source_documents_only_where_there_are_some(client, documents) -> None:
    study = study_of(record(**documents), summary_question=making.study().summary_question)
    client.force_login(making.owner(study))
    assert ("Relative to the input" in text_of(client, reverse("study_methods", args=[study.pk]))) == (not documents)


def test_the_first_place_is_said_to_hang_on_annotators_only_where_one_system_and_several_people_are_first(
    client: Client,
) -> None:
    first, second, _third = SYSTEMS
    ties = [
        {"topic": "M1", "of": "summaries", "a": first, "b": second, "winner": "tie", "annotator": by}
        for by in ("w1", "w2")
    ]
    beside = [
        {"topic": "M1", "of": "summaries", "a": first, "b": second, "winner": "a", "annotator": by, "kind": kind}
        for by, kind in (("w1", "human"), ("m1", "machine"))
    ]
    apart = [
        {"topic": "M1", "of": "summaries", "a": SYSTEMS[n], "b": SYSTEMS[n + 1], "winner": "a", "annotator": f"w{n}"}
        for n in range(2)
    ]
    for answers, settings, said in (
        (ties, {"ties_allowed": True}, "Several systems share the first place. 2 annotators were left out in turn."),
        (beside, {"counted_kinds": "people-and-machines"}, ""),
        (apart, {}, ""),
    ):
        study = study_of(record(), **settings)
        making.store(study, lines(*answers), "preferences.jsonl")
        tasks.catch_up(study.pk)
        tasks.examine_win_rates(study.pk)
        client.force_login(making.owner(study))
        board = text_of(client, reverse("leaderboard", args=[study.pk]))
        assert said in board
        assert "stays the same" not in board
        assert "from one annotator" not in board
