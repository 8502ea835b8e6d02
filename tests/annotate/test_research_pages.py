"""The researcher's pages: who sees them, that their numbers are the stored ones, and that each leads on."""

from __future__ import annotations

import html
import io
import json
import math
import re
import struct
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest
import segno
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import QuerySet, Value
from django.db.models.functions import Concat
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from annotate import exports, imports, invitations, studies
from annotate.models import (
    AuditEntry,
    Export,
    Fit,
    Invitation,
    Item,
    ItemSetProgress,
    Judgment,
    Membership,
    Ranking,
    Score,
    SourceDocument,
    Study,
    Summary,
    System,
    SystemScore,
    Upload,
    Utility,
    WorkerPulse,
)
from annotate.reports import leaderboard as boards
from annotate.reports import rests_on
from annotate.reports.figure_files import FIGURES
from annotate.reports.scores import LIGHT
from annotate.reports.words_in_common import mark_shared
from evaluation import tasks
from preferendum import formats
from preferendum.results import length
from preferendum.statistics import packed
from tests.annotate import making, scored
from tests.annotate.everything import made_once
from tests.annotate.reading import rows_of

pytestmark = pytest.mark.django_db
Role = Membership.Role


made_study = made_once(scored.scored_study)


@pytest.fixture
def study(made_study: tuple[Study, object]) -> Study:
    return Study.objects.get(pk=made_study[0].pk)


@pytest.fixture
def owner(client: Client, study: Study) -> User:
    """The study's owner, signed in."""
    owner = making.owner(study)
    client.force_login(owner)
    return owner


@pytest.fixture
def new_study(client: Client) -> Study:
    """A study with nothing in it; its owner is signed in, and a worker is there."""
    study = making.study()
    client.force_login(making.owner(study))
    worker()
    return study


def worker() -> None:
    WorkerPulse.objects.update_or_create(name="w", defaults={"at": timezone.now(), "program_version": "0"})


def words(response: HttpResponse) -> str:
    """What a page says, without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", response.content.decode())).split())


# Who sees what


def test_an_open_page_is_loaded_anew_when_its_visitor_has_signed_out(client: Client, study: Study) -> None:
    page = reverse("leaderboard", args=[study.pk])
    answer = client.get(page, {"seen": "older"}, headers={"HX-Request": "true"})
    assert answer.status_code == 401
    assert answer["HX-Refresh"] == "true"


def test_an_admin_is_led_to_no_page_that_changes_texts(client: Client, study: Study) -> None:
    client.force_login(making.member(study, Role.ADMIN))
    overview = client.get(reverse("study", args=[study.pk])).content.decode()
    assert reverse("upload_new", args=[study.pk]) not in overview
    assert reverse("study_settings", args=[study.pk]) not in overview


# Studies


def test_a_newcomer_learns_what_a_study_is(client: Client) -> None:
    person = making.person()
    client.force_login(person)
    page = client.get(reverse("studies"))
    assert "From texts to a leaderboard" in words(page)
    assert reverse("study_new") not in page.content.decode()
    assert client.get(reverse("study_new")).status_code == 403
    person.user_permissions.add(Permission.objects.get(codename="add_study"))
    assert reverse("study_new") in client.get(reverse("studies")).content.decode()


def test_the_list_says_how_far_each_study_is_and_keeps_simulations_apart(
    client: Client, study: Study, owner: User
) -> None:
    making.study(title="Somebody else's")
    page = words(client.get(reverse("studies")))
    assert "Weather" in page
    assert "Somebody else" not in page
    assert "2 topics · 4 of 18 requested judgments" in page  # 15 pairs of six sentences, 3 of three
    assert "4 by people (imported), 2 simulated" in page


def test_a_study_is_begun_with_its_title_and_perhaps_a_file_or_the_example(client: Client) -> None:
    person = making.person()
    person.user_permissions.add(Permission.objects.get(codename="add_study"))
    client.force_login(person)
    page = reverse("study_new")
    form = client.get(page).context["form"]
    assert [field.name for field in form.visible_fields()] == ["title", "language", "file", "example"]
    begun = {"title": "Wind", "language": "en", "form_token": form["form_token"].value()}
    for _time in range(2):
        answer = client.post(page, begun)
    study = Study.objects.get(title="Wind")
    assert answer["Location"] == reverse("upload_new", args=[study.pk])
    assert studies.access.may(person, study, "members")
    assert (study.smooth, study.compares) == ("kernel", "both"), "what is recommended"
    files = {
        "dropped.jsonl": {"file": SimpleUploadedFile("dropped.jsonl", making.lines(making.TOPIC))},
        "wikinews.jsonl": {"example": "on"},
    }
    for name, sent in files.items():
        answer = client.post(page, {"title": name, "language": "en", **sent})
        upload = Upload.objects.get(filename=name)
        assert answer["Location"] == reverse("upload", args=[upload.study_id, upload.key])
    client.post(page, {"title": "Empty", "language": "en", "file": SimpleUploadedFile("empty.jsonl", b"")})
    assert not Study.objects.filter(title="Empty").exists()


def test_a_value_that_will_not_do_is_said_beside_its_field(client: Client, study: Study, owner: User) -> None:
    page = reverse("study_settings", args=[study.pk])
    form = client.get(page).context["form"]
    filled = {name: form[name].value() for name in form.fields if form[name].value() is not False}
    answer = client.post(page, filled | {"repeat_share": "-1", "title": "", "gold_share": "70"})
    assert answer.status_code == 200
    assert set(answer.context["form"].errors) == {"repeat_share", "title", "gold_share"}
    html = answer.content.decode()
    assert '<details class="fold" open>' in html  # where both shares are set
    assert '<a href="#id_gold_share">Share of gold pairs</a>: At most 50%.' in html
    (focused,) = re.findall("<[^>]*autofocus", html)
    assert 'name="title"' in focused
    study.refresh_from_db()
    assert study.title == "Weather"


def test_eight_settings_are_shown_and_the_others_folded_behind_what_is_set(
    client: Client, study: Study, owner: User
) -> None:
    studies.change_settings(study, owner, repeat_share=0.1)
    address = reverse("study_settings", args=[study.pk])
    answer = client.get(address)
    page = words(answer)
    assert len(answer.context["form"].first()) == 8
    assert (
        page.index("as in the paper (Zopf 2018)") < page.index("Expert settings") < page.index("share of repeats: 10%")
    )
    assert "combined: importance" not in page
    studies.change_settings(study, owner, repeat_share=0.05, score="combined")
    page = words(client.get(address))
    assert "share of repeats:" not in page
    assert "combined: importance" in page, "a score that the study has already"


def test_metrics_are_ticked_and_those_with_options_typed(client: Client, study: Study, owner: User) -> None:
    page = reverse("study_settings", args=[study.pk])
    form = client.get(page).context["form"]
    filled = {name: form[name].value() for name in form.fields if form[name].value() is not False}
    client.post(page, filled | {"metric_names": ["rouge-1", "js", "rouge-2:f, rouge-1"]})
    study.refresh_from_db()
    assert study.metric_names == "rouge-1,js,rouge-2:f"
    html = client.get(page).content.decode()
    assert len(re.findall('type="checkbox" name="metric_names" [^>]*checked', html)) == 2
    assert 'value="rouge-2:f"' in html


def test_changed_settings_have_the_scores_computed_anew(client: Client, study: Study, owner: User) -> None:
    page = reverse("study_settings", args=[study.pk])
    form = client.get(page).context["form"]
    filled = {name: form[name].value() for name in form.fields if form[name].value() is not False}
    assert client.post(page, filled | {"score": "combined"})["Location"] == page
    board = words(client.get(reverse("leaderboard", args=[study.pk])))
    assert "These are the scores of earlier settings" in board
    assert "score: importance" in board
    tasks.catch_up(study.pk)
    board = words(client.get(reverse("leaderboard", args=[study.pk])))
    assert "earlier settings" not in board
    assert "score: combined" in board


def test_a_study_is_paused_and_opened_again(client: Client, study: Study, owner: User) -> None:
    client.post(reverse("study_state", args=[study.pk]), {"state": "paused"})
    study.refresh_from_db()
    assert study.state == "paused"
    assert "Next: open the study" in words(client.get(reverse("study", args=[study.pk])))
    client.post(reverse("study_state", args=[study.pk]), {"state": "open"})
    study.refresh_from_db()
    assert study.state == "open"


def test_a_study_is_deleted_only_by_whoever_types_its_title(client: Client, study: Study, owner: User) -> None:
    page = reverse("study_delete", args=[study.pk])
    assert client.post(page, {"title": "weather"}).status_code == 200
    assert Study.objects.filter(pk=study.pk).exists()
    assert client.post(page, {"title": "Weather"})["Location"] == reverse("studies")
    assert not Study.objects.filter(pk=study.pk).exists()


# The one next thing to do


def next_of(client: Client, study: Study) -> str:
    found = re.search(r'id="next-heading">([^<]*)<', client.get(reverse("study", args=[study.pk])).content.decode())
    assert found
    return unescape(found[1])


def test_each_step_leads_to_the_next_one(client: Client, new_study: Study) -> None:
    assert next_of(client, new_study) == "Next: upload your topics"
    upload = making.receive(new_study, making.lines(making.TOPIC | {"summaries": []}))
    assert next_of(client, new_study) == "The worker is busy"
    tasks.process_upload(upload.pk)
    assert next_of(client, new_study) == "Next: confirm your upload"
    client.post(reverse("upload_confirm", args=[new_study.pk, upload.key]))
    assert next_of(client, new_study) == "The worker is busy"
    tasks.process_upload(upload.pk)
    assert next_of(client, new_study) == "Next: upload summaries"
    late = making.receive(new_study, b"topic,system,text\nM1,lead,It rained.\n", "late.csv")
    tasks.process_upload(late.pk)
    client.post(reverse("upload_confirm", args=[new_study.pk, late.key]))
    tasks.process_upload(late.pk)
    assert next_of(client, new_study) == "Next: invite people to judge"
    scored.judge(new_study, ("M1", "d1:0", "d1:1", "a"))
    assert next_of(client, new_study) == "More judgments narrow the intervals"
    making.owner(new_study)
    studies.change_settings(new_study, making.owner(new_study), judgments_per_topic=1)
    assert next_of(client, new_study) == "All judgments are in"


def test_a_refused_upload_is_what_to_do_next_while_there_is_nothing_else(client: Client, new_study: Study) -> None:
    upload = making.receive(new_study, b"nonsense")
    tasks.process_upload(upload.pk)
    assert next_of(client, new_study) == "Next: correct your file"


def test_a_study_says_so_when_no_worker_is_there(client: Client, new_study: Study) -> None:
    making.receive(new_study, making.lines(making.TOPIC))
    WorkerPulse.objects.update(at=timezone.now() - timezone.timedelta(seconds=16))
    assert next_of(client, new_study) == "No worker is running"
    worker()
    assert next_of(client, new_study) == "The worker is busy"


def test_a_topic_that_fails_is_named_with_its_reason_and_blocks_nothing_else(
    client: Client, study: Study, owner: User
) -> None:
    worker()
    ItemSetProgress.objects.filter(item_set__study=study, item_set__topic__name="snow").update(
        problem="It is too cold."
    )
    assert next_of(client, study) == "1 topic has a problem"
    assert "It is too cold." in words(client.get(reverse("study", args=[study.pk])))
    assert "It is too cold." in words(client.get(reverse("topic", args=[study.pk, scored.topic(study, "snow").pk])))
    assert "It is too cold." not in words(client.get(reverse("topic", args=[study.pk, scored.topic(study).pk])))


def test_the_overview_says_the_answer_and_all_that_is_wrong_the_worst_first(
    client: Client, study: Study, owner: User
) -> None:
    """A forgotten upload hid topics that failed."""
    answer = client.get(reverse("leaderboard", args=[study.pk])).context["board"].answer
    ItemSetProgress.objects.update(problem="The texts are too large.")
    Ranking.objects.update(problem="No order was found.")
    for name in ("older.csv", "newer.csv"):
        send(client, study, b"topic,system,text\nnone,lead,x\n", name)
        tasks.process_upload(Upload.objects.get(filename=name).pk)
    page = words(client.get(reverse("study", args=[study.pk])))
    assert answer
    said = (answer, "have a problem", "not be ranked: No order was found.", "newer.csv was not stored", "older.csv was")
    places = [page.find(words_of) for words_of in said]
    assert -1 not in places
    assert places == sorted(places)


def test_the_first_page_asks_for_news_and_is_told_when_there_are_none(client: Client, new_study: Study) -> None:
    page = reverse("study", args=[new_study.pk])
    version = client.get(page).context["version"]
    assert client.get(page, {"seen": version}).status_code == 204
    making.receive(new_study, making.lines(making.TOPIC))
    news = client.get(page, {"seen": version})
    assert news.status_code == 200
    assert "<html" not in news.content.decode()
    assert "The worker is busy" in words(news)


# Uploads


def send(client: Client, study: Study, content: bytes, name: str = "topics.jsonl") -> HttpResponse:
    return client.post(reverse("upload_new", args=[study.pk]), {"file": SimpleUploadedFile(name, content)})


def test_a_file_is_sent_read_looked_at_and_stored(client: Client, new_study: Study) -> None:
    answer = send(client, new_study, making.lines(making.TOPIC))
    upload = Upload.objects.get(study=new_study)
    assert answer["Location"] == reverse("upload", args=[new_study.pk, upload.key])
    page = client.get(answer["Location"])
    assert "waiting to be read" in words(page)
    assert client.get(answer["Location"], {"seen": page.context["version"]}).status_code == 204
    tasks.process_upload(upload.pk)
    preview = words(client.get(answer["Location"], {"seen": page.context["version"]}))
    assert "Nothing has been added to the study yet" in preview
    assert "Topics 1 Documents 2 Sentences 5 References 1 Systems 2 Summaries 2" in preview
    assert "lead , long" in preview
    assert "responsiveness (1)" in preview
    assert not new_study.topics.exists()
    client.post(reverse("upload_confirm", args=[new_study.pk, upload.key]))
    tasks.process_upload(upload.pk)
    stored = client.get(answer["Location"])
    assert "is now part of the study" in words(stored)
    assert "hx-trigger" not in stored.content.decode()  # nothing moves here any more
    assert new_study.topics.count() == 1


def test_every_complaint_names_file_line_field_found_and_expected(client: Client, new_study: Study) -> None:
    broken = making.lines(making.TOPIC, {"topic_id": "M2", "documents": [{"id": "<b>x</b>", "text": 7}]})
    send(client, new_study, broken)
    upload = Upload.objects.get(study=new_study)
    tasks.process_upload(upload.pk)
    page = client.get(reverse("upload", args=[new_study.pk, upload.key]))
    assert "Nothing was stored, because of 1 problem." in words(page)
    assert "topics.jsonl 2 documents[0].text the number 7 text in double quotes" in words(page)
    assert "<b>x" not in page.content.decode()
    assert not new_study.topics.exists()


def test_what_was_passed_over_is_said(client: Client, new_study: Study) -> None:
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("topics/T1/documents/d1.txt", "It rained.")
        archive.writestr("README.md", "hello")
    send(client, new_study, packed.getvalue(), "t.zip")
    upload = Upload.objects.get(study=new_study)
    tasks.process_upload(upload.pk)
    assert "README.md ignored" in words(client.get(reverse("upload", args=[new_study.pk, upload.key])))


def test_a_file_too_large_is_refused_before_anything_is_kept(
    client: Client, new_study: Study, settings: Settings
) -> None:
    settings.UPLOAD_LIMIT = 10
    answer = send(client, new_study, b"x" * 11)
    assert answer.status_code == 422
    assert "The file is larger than" in words(answer)
    assert not Upload.objects.exists()


def test_a_form_without_a_file_says_so(client: Client, new_study: Study) -> None:
    answer = client.post(reverse("upload_new", args=[new_study.pk]))
    assert answer.status_code == 422
    assert "This field is required" in words(answer)


def test_a_discarded_file_leaves_nothing_behind(client: Client, new_study: Study) -> None:
    send(client, new_study, making.lines(making.TOPIC))
    upload = Upload.objects.get(study=new_study)
    answer = client.post(reverse("upload_discard", args=[new_study.pk, upload.key]))
    assert answer["Location"] == reverse("study", args=[new_study.pk])
    upload.refresh_from_db()
    assert upload.state == Upload.State.DISCARDED
    answer = client.post(reverse("upload_confirm", args=[new_study.pk, upload.key]), follow=True)
    assert "cannot be stored" in words(answer)


# Topics, documents, sentences


def test_sentences_stand_in_order_of_their_stored_utility(client: Client, study: Study, owner: User) -> None:
    topic = scored.topic(study)
    response = client.get(reverse("topic", args=[study.pk, topic.pk]))
    page, unit = words(response), response.context["unit"]
    assert unit.decimals == 1, "intervals reach farther than 1"
    at = -1
    utilities = Utility.objects.filter(sentence__item_set=topic.pk, scored_by="recommended")
    for utility in utilities.order_by("-utility").select_related("sentence"):
        figures = unit.show(utility.utility), unit.interval(utility.low, utility.high)
        said = " ".join((utility.sentence.text, *figures))
        assert page.index(said) > at
        at = page.index(said)
    assert "from 4 judgments" in page


def test_simulated_judgments_are_called_so_wherever_their_results_stand(
    client: Client, study: Study, owner: User
) -> None:
    snow = scored.topic(study, "snow")
    sentence = snow.sentence_set.items.first()
    assert sentence
    places = {
        reverse(
            "study", args=[study.pk]
        ): "1 person gave 4 judgments (imported); 1 simulated annotator gave 2 judgments, on 2 topics.",
        reverse("study_topics", args=[study.pk]): "0 of 3 2 simulated",
        reverse("topic", args=[study.pk, snow.pk]): "from 2 judgments. 2 simulated",
        reverse("topic_leaderboard", args=[study.pk, snow.pk]): "Judgments: 2 simulated.",
        reverse(
            "leaderboard", args=[study.pk]
        ): "1 person gave 4 judgments (imported); 1 simulated annotator gave 2 judgments, on 2 topics.",
        reverse("sentence", args=[study.pk, sentence.pk]): "a simulation simulated",
        f"{reverse('study_annotators', args=[study.pk])}?kind=simulated": "How annotators judge simulated",
        reverse(
            "leaderboard_tex", args=[study.pk]
        ): "gave 4 judgments (imported); 1 simulated annotator gave 2 judgments, on 2 topics.",
    }
    for place, said in places.items():
        assert said in words(client.get(place)), place


def test_a_sentence_shows_the_judgments_that_it_rests_on_from_its_side(
    client: Client, study: Study, owner: User
) -> None:
    heavy = scored.topic(study).sentence_set.items.get(text__startswith="Heavy")
    page = client.get(reverse("sentence", args=[study.pk, heavy.pk]))
    found = [(one["share"], one["other"].text, one["was_left"]) for one in page.context["judgments"]]
    assert found == [(1.0, "He wore a hat.", False), (1.0, "It rained in Ohio.", True)]
    assert '<span class="badge good">preferred to</span>' in page.content.decode()
    assert "judge-1" in words(page)
    assert "1 of 6" in words(page)
    tied = scored.topic(study).sentence_set.items.get(text__startswith="Schools")
    page = client.get(reverse("sentence", args=[study.pk, tied.pk]))
    assert [one["share"] for one in page.context["judgments"]] == [0.5]
    assert "as important as" in words(page)


def unjudged(study: Study) -> tuple[SourceDocument, str]:
    """A document that nobody has judged, and the page where it is mended."""
    imports.store(study, making_bundle())
    document = SourceDocument.objects.get(topic__study=study, topic__name="wind")
    return document, reverse("document_mend", args=[study.pk, document.topic_id, document.pk])


def making_bundle():  # type: ignore[no-untyped-def]
    from preferendum import formats

    text = "Wind blew. Mr. Smith\nlost his hat."
    return formats.Bundle(topics=(formats.Topic("wind", (formats.Text("w1", text),)),))


def test_a_border_is_mended_and_once_people_judged_a_question_comes_first(
    client: Client, study: Study, owner: User
) -> None:
    document, page = unjudged(study)
    assert client.get(page).context["form"].initial["sentences"].splitlines()[0] == "Wind blew."
    answer = client.post(page, {"sentences": "Wind blew. Mr.\r\n\r\nSmith lost\r\nhis hat."})
    assert answer["Location"] == reverse("topic_documents", args=[study.pk, document.topic_id])
    cut = list(Item.objects.filter(document=document).order_by("index").values_list("text", flat=True))
    assert cut == ["Wind blew. Mr.", "Smith lost", "his hat."]
    assert "· edited" in words(client.get(answer["Location"]))
    scored.judge(study, ("wind", "w1:0", "w1:1", "a"))
    answer = client.post(page, {"sentences": "Wind blew. Mr. Smith lost his hat."})
    assert "1 judgment is about sentences that would change." in words(answer)
    assert Item.objects.filter(document=document).count() == 3


def test_mending_goes_back_to_how_it_was_cut_at_first(client: Client, study: Study, owner: User) -> None:
    document, page = unjudged(study)
    before = list(document.cut_sentences.values_list("text", flat=True))
    client.post(page, {"sentences": "Wind blew. Mr. Smith lost his hat."})
    tasks.catch_up(study.pk)
    assert document.cut_sentences.count() == 1
    client.post(page.replace("/mend/", "/unmend/"))
    tasks.catch_up(study.pk)
    assert list(document.cut_sentences.values_list("text", flat=True)) == before


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Wind blew.\nMr. Smith found his hat.", "with “found his hat.”, but the document has “lost his hat.”"),
        ("Wind blew.\nMr. Smith lost", "The last 7 letters of the document are missing"),
        ("Wind blew.\nMr. Smith lost his hat.\nAnd more.", "Sentence 3 continues with “And more.”"),
        ("", "This field is required"),
    ],
)  # fmt: skip
def test_changed_words_are_refused_with_the_place(
    client: Client, study: Study, owner: User, written: str, said: str
) -> None:
    document, page = unjudged(study)
    answer = client.post(page, {"sentences": written})
    assert answer.status_code == 200
    assert said in words(answer)
    document.refresh_from_db()
    assert document.mended is None


# Leaderboards and scores


def standings(study: Study, scored_by: str = "recommended") -> QuerySet[SystemScore]:
    return SystemScore.objects.filter(ranking__study=study, ranking__scored_by=scored_by).select_related("system")


@pytest.mark.parametrize(("scored_by", "ranked"), [("recommended", 2), ("published", 3)])
def test_the_leaderboard_shows_the_stored_numbers(
    client: Client, study: Study, owner: User, scored_by: str, ranked: int
) -> None:
    response = client.get(reverse("leaderboard", args=[study.pk]), {"scored_by": scored_by})
    page, unit = words(response), response.context["unit"]
    paper = client.get(reverse("leaderboard_tex", args=[study.pk]), {"scored_by": scored_by}).content.decode()
    paper = paper.replace("$-$", "-")
    figure = client.get(reverse("leaderboard_svg", args=[study.pk]), {"scored_by": scored_by}).content.decode()
    assert standings(study, scored_by).count() == ranked
    for one in standings(study, scored_by):
        few = " (1 of 2 topics)" if one.topics == 1 else ""
        times = 100 if scored_by == "recommended" else 1
        assert float(unit.show(one.score)) == round(times * one.score, unit.decimals)
        assert f"{one.rank} {one.system.name}{few} {unit.show(one.score)}" in page
        assert one.low is None or f"[{unit.show(one.low)}, {unit.show(one.high)}]" in page
        for text in (paper, figure):
            assert unit.show(one.score) in text
            assert one.low is None or unit.interval(one.low, one.high) in text
    for text in (page, paper, figure):
        assert ("(points)" in text) == (scored_by == "recommended")
    assert "gave 2 judgments, on 2 topics." in page


def test_a_topic_without_judgments_is_named_on_the_board_and_on_a_systems_page(
    client: Client, study: Study, owner: User
) -> None:
    making.take_in(study, making.TOPIC | {"topic_id": "amazon-21", "title": "Amazon"})
    system = standings(study, "recommended").filter(topics=2).first().system
    for page in (reverse("leaderboard", args=[study.pk]), reverse("system", args=[study.pk, system.pk])):
        assert "1 of 3 topics has no judgments: Amazon." in words(client.get(page))


def test_a_study_shows_its_own_score_first_and_the_other_at_a_click(client: Client, study: Study, owner: User) -> None:
    page = reverse("leaderboard", args=[study.pk])
    recommended = words(client.get(page))
    assert "System Importance" in recommended
    assert "kernel prior" in recommended
    published = words(client.get(page, {"scored_by": "published"}))
    assert "System Score as published" in published
    assert "equations 2–5 as published (Zopf 2018)" in published
    studies.change_settings(study, owner, score="published")
    assert client.get(page).context["board"].scored_by == "published"
    assert client.get(page, {"scored_by": "nonsense"}).context["board"].scored_by == "published"


def test_coverage_stands_beside_importance(client: Client, study: Study, owner: User) -> None:
    page = words(client.get(reverse("leaderboard", args=[study.pk])))
    for one in standings(study):
        assert one.coverage is not None
        assert f"{one.coverage:.2f}" in page
    assert "Coverage" not in words(client.get(reverse("leaderboard", args=[study.pk]), {"scored_by": "published"}))


def test_a_board_of_enough_systems_says_what_the_length_of_sentences_explains(
    client: Client, study: Study, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(length, "FEWEST", 3)
    by_length = boards.of_study(study, "published").by_length()
    assert by_length is not None
    assert by_length.systems == 3
    for name in ("leaderboard", "leaderboard_tex"):
        answer = client.get(reverse(name, args=[study.pk]), {"scored_by": "published"})
        assert by_length.words in words(answer)
    assert boards.of_study(study).by_length() is None  # two systems are ranked


def test_a_system_without_a_word_of_its_sources_is_named_and_not_ranked(
    client: Client, study: Study, owner: User
) -> None:
    for page in (
        ("leaderboard", reverse("leaderboard", args=[study.pk])),
        (
            "topic_leaderboard",
            reverse("topic_leaderboard", args=[study.pk, scored.topic(study).pk]),
        ),
    ):
        answer = client.get(page[1])
        assert "off" not in [row.system for row in answer.context["board"].rows]
        assert "Not ranked, because its summaries share no word with their sources: off." in words(answer)


def test_a_topic_as_published_says_when_it_needed_a_prior(client: Client, study: Study, owner: User) -> None:
    page = words(client.get(reverse("leaderboard", args=[study.pk]), {"scored_by": "published"}))
    fits = Fit.objects.newest("published").filter(item_set__study=study)
    needed = [fit for fit in fits if fit.settings["prior"]]
    assert needed
    assert f"{len(needed)} topic" in page
    assert "fitted with prior 0.1" in page


def test_every_difference_is_shown_once_with_its_p_value(client: Client, study: Study, owner: User) -> None:
    ranking = study.rankings.get(scored_by="published")
    ranking.settings |= {"score": "importance"}  # three systems, tested
    ranking.differences = {
        "better": ["lead & co_", "lead & co_", "=hat"],
        "worse": ["=hat", "off", "off"],
        "difference": packed(np.array([0.1, 0.1, 0.1])),
        "low": packed(np.array([0.0, 0.0, math.nan])),
        "high": packed(np.array([0.2, 0.2, math.nan])),
        "p": packed(np.array([0.0004, 0.0471, math.nan])),
        "significant": [True, True, None],
        "topics": [None] * 3,
        "planned_share": [None] * 3,
    }
    ranking.save()
    page = client.get(reverse("leaderboard", args=[study.pk]), {"scored_by": "published"})
    shown = [[cell["p"] for cell in line["cells"]] for line in page.context["matrix"]]
    assert sorted(p for line in shown for p in line if p) == [".047", "< .001"]
    lead = next(line["row"] for line in page.context["lines"] if line["row"].system == "lead & co_")
    assert lead.better_than == ("=hat", "off")
    assert "?" in words(page)  # where nothing can be said


def test_the_csv_holds_every_digit(client: Client, study: Study, owner: User) -> None:
    rows = rows_of(client, reverse("leaderboard_csv", args=[study.pk]))
    stored = {one.system.name: one for one in standings(study)}
    assert len(rows) == 2
    for row in rows:
        one = stored[row["system"].removeprefix("'")]  # a name that begins like a formula is defused
        assert float(row["score"]) == one.score
        assert float(row["low"]) == one.low
        assert int(row["rank_high"]) == one.rank_high
        assert float(row["coverage"]) == one.coverage
        assert row["rests_on"] == rests_on.of_study(study).counted.words
    assert any(row["system"] == "'=hat" for row in rows)


def test_names_of_systems_mean_nothing_to_latex(client: Client, study: Study, owner: User) -> None:
    table = client.get(reverse("topic_leaderboard_tex", args=[study.pk, scored.topic(study).pk])).content.decode()
    assert r"lead \& co\_ &" in table
    assert sum(line.endswith(r"\\") for line in table.splitlines()) == 1 + 2
    assert r"95\% \\ interval" in table


def test_figures_are_pictures_on_their_own_under_names_of_their_own(client: Client, study: Study, owner: User) -> None:
    names = set()
    for name in ("leaderboard_svg", "leaderboard_ranks_svg"):
        answer = client.get(reverse(name, args=[study.pk]))
        assert answer["Content-Type"] == "image/svg+xml"
        picture = ElementTree.fromstring(answer.content)
        assert picture.tag == "{http://www.w3.org/2000/svg}svg"
        assert "lead & co_" in "".join(picture.itertext())
        assert rests_on.of_study(study).counted.words in "".join(picture.itertext())
        names.add(answer["Content-Disposition"].partition("filename=")[2])
    assert names == {'"leaderboard-weather-recommended.svg"', '"ranks-weather-recommended.svg"'}


@pytest.mark.parametrize(("place", "points"), [("column", 219), ("page", 455), ("slide", 864)])
def test_a_figure_for_a_paper_has_its_size_and_its_words(
    client: Client, study: Study, owner: User, place: str, points: int
) -> None:
    asked = {"for": place}
    answers = {form: client.get(reverse(f"leaderboard_{form}", args=[study.pk]), asked) for form in FIGURES}
    width, height = map(float, re.findall(r'(?:width|height)="([\d.]+)pt"', answers["svg"].content.decode()))
    png, pdf = answers["png"].content, answers["pdf"].content
    assert width == points
    assert struct.unpack(">II", png[16:24]) == (round(points * 300 / 72), pytest.approx(height * 300 / 72, abs=1))
    assert png.startswith(b"\x89PNG")
    assert pdf.startswith(b"%PDF")
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert box is not None
    assert [float(side) for side in box.groups()] == [points, pytest.approx(height, abs=0.1)]
    assert b"DejaVuSans" in pdf
    assert {form: answer["Content-Type"] for form, answer in answers.items()} == FIGURES


@pytest.mark.parametrize("place", ["column", "page", "slide"])
def test_letters_can_be_read_where_a_figure_stands(client: Client, study: Study, owner: User, place: str) -> None:
    svg = client.get(reverse("leaderboard_svg", args=[study.pk]), {"for": place}).content.decode()
    width, drawn = (float(re.findall(own, svg)[0]) for own in (r'width="([\d.]+)pt"', r'viewBox="0 0 ([\d.]+)'))
    assert min(map(float, re.findall(r'font-size="([\d.]+)"', svg))) * width / drawn >= (16 if place == "slide" else 6)
    assert client.get(reverse("leaderboard_svg", args=[study.pk]), {"for": "stamp"}).status_code == 404


@pytest.mark.parametrize("name", ["الأول", "ภาษาไทย", "𓀀𓀁", "\N{GRINNING FACE}"])
def test_a_figure_is_drawn_whatever_letters_a_name_has(client: Client, study: Study, owner: User, name: str) -> None:
    System.objects.filter(study=study).update(name=Concat("name", Value(name)))
    scored.tasks.refit_topic(scored.topic(study).pk)
    svg, pdf, png = (client.get(reverse(f"leaderboard_{form}", args=[study.pk])).content for form in FIGURES)
    assert name in svg.decode()
    assert pdf.startswith(b"%PDF")
    assert b"DejaVuSans" in pdf
    assert png.startswith(b"\x89PNG")


def test_a_board_offers_what_a_paper_needs(client: Client, study: Study, owner: User) -> None:
    text = client.get(reverse("topic_leaderboard", args=[study.pk, scored.topic(study).pk])).content.decode()
    box = text[text.index("<summary>Download</summary>") :]
    for form in ("svg", "pdf", "png", "tex", "csv", "ranks.svg", "ranks.pdf", "ranks.png"):
        assert f"leaderboard.{form}?scored_by=recommended" in box
    assert "PDF as wide as a column (219 pt)" in box
    assert "leaderboard.csv?scored_by=published" in box
    assert "As published" not in text[: text.index(box)]


def test_there_is_no_figure_of_nothing(client: Client, new_study: Study) -> None:
    assert client.get(reverse("leaderboard_svg", args=[new_study.pk])).status_code == 404
    assert "No leaderboard yet" in words(client.get(reverse("leaderboard", args=[new_study.pk])))


def test_an_open_leaderboard_gets_its_figures_after_a_judgment_and_nothing_otherwise(
    client: Client, study: Study, owner: User
) -> None:
    rain = scored.topic(study)
    for page, name in (
        (reverse("leaderboard", args=[study.pk]), ("rain", "d2:2", "d1:1", "a")),
        (reverse("topic_leaderboard", args=[study.pk, rain.pk]), ("rain", "d2:1", "d1:0", "a")),
    ):
        shown = client.get(page).context
        seen = {"seen": shown["board"].version, "order": shown["order"]}
        assert client.get(page, seen).status_code == 204
        scored.judge(study, name)
        tasks.catch_up(study.pk)
        news = client.get(page, seen)
        assert news.status_code == 200
        assert "<html" not in news.content.decode()
        assert f"{shown['board'].rests_on.counted.human + 1} " in news.context["board"].basis
        assert news.context["board"].basis in words(news)
        assert news.context["board"].version != shown["board"].version
        for place in ("board-notices", "board-table", "board-differences", "board-settings"):
            assert f'hx-swap-oob="innerHTML:#{place}"' in news.content.decode()


def test_a_listener_hears_of_a_new_order_only(client: Client, study: Study, owner: User) -> None:
    page = reverse("leaderboard", args=[study.pk])
    board = client.get(page).context
    assert "The order has changed" not in words(client.get(page, {"seen": "older", "order": board["order"]}))
    assert "The order has changed" in words(client.get(page, {"seen": "older", "order": "1-2"}))


def test_a_board_that_was_empty_is_drawn_whole_once_there_is_something(
    client: Client, study: Study, owner: User
) -> None:
    answer = client.get(reverse("leaderboard", args=[study.pk]), {"seen": "older", "empty": "1"})
    assert answer["HX-Refresh"] == "true"


def test_a_board_without_a_worker_says_that_it_does_not_follow(client: Client, study: Study, owner: User) -> None:
    page = reverse("leaderboard", args=[study.pk])
    assert "No worker is running" not in words(client.get(page))  # nothing waits for one
    scored.judge(study, ("rain", "d2:2", "d1:1", "a"))
    assert "No worker is running" in words(client.get(page))
    worker()
    assert "newer judgments are being added" in words(client.get(page))


def numbers(page: HttpResponse) -> list[list[float]]:
    """The full numbers of each line that adds to a score; a reader sees four digits."""
    lines = re.findall(r'<tr class="term">.*?</tr>|<p class="product number">.*?</p>', page.content.decode(), re.DOTALL)
    return [[float(number) for number in re.findall(r'<data value="([^"]*)">', line)] for line in lines]


def total(page: HttpResponse) -> float:
    shown = re.search(r'class="total number">.*?<data value="([^"]*)">', page.content.decode(), re.DOTALL)
    assert shown
    return float(shown[1])


@pytest.mark.parametrize("score", ["importance", "combined", "coverage"])
def test_a_score_is_followed_word_by_word_to_the_last_digit(client: Client, score: str) -> None:
    study = scored.scored_study(score=score)
    client.force_login(making.owner(study))
    for row in Score.objects.filter(summary__topic__study=study, scored_by="recommended", score__isnull=False):
        page = client.get(reverse("summary", args=[study.pk, row.summary_id]))
        source = page.context["source"]
        assert row.score is not None
        added = []
        for occurrences, idf, *value, contribution in numbers(page):
            ahead = sum(value) - source.mean
            factor = {"importance": ahead, "combined": 1 + 4 * ahead, "coverage": 1.0}[score]
            by_hand = occurrences * idf * factor / source.total
            assert contribution == pytest.approx(by_hand, rel=1e-12, abs=1e-17)
            added.append(contribution)
        assert total(page) == pytest.approx(math.fsum(added), abs=1e-15)
        assert total(page) == pytest.approx(row.score, abs=1e-12)
        assert f'value="{source.total}"' in page.content.decode()
        assert page.context["unit"].show(row.score) in words(page)
        assert all(len(text) <= 9 for text in re.findall(r"<data[^>]*>([^<]*)</data>", page.content.decode()))


def test_a_score_as_published_is_followed_sentence_by_sentence(client: Client, study: Study, owner: User) -> None:
    for score in Score.objects.filter(summary__topic__study=study, scored_by="published"):
        page = client.get(reverse("summary", args=[study.pk, score.summary_id]), {"scored_by": "published"})
        added = []
        for weight, value, factor, contribution in numbers(page):
            assert contribution == pytest.approx(weight * value * factor, rel=1e-12)
            added.append(contribution)
        assert total(page) == pytest.approx(math.fsum(added), abs=1e-15)
        assert total(page) == pytest.approx(score.score, abs=1e-12)
        for part, nearest, *_marked in page.context["parts"]:
            if nearest:
                assert nearest.text in html.unescape(re.sub(r"</?b\b[^>]*>", "", page.content.decode()))
                strength = Utility.objects.get(sentence=nearest, scored_by="published").strength
                assert part.value == pytest.approx(strength, rel=1e-12)


def test_a_summary_without_a_word_of_its_sources_says_so(client: Client, study: Study, owner: User) -> None:
    off = scored.topic(study).summaries.get(system__name="off")
    address = reverse("summary", args=[study.pk, off.pk])
    assert "shares no word with its sources, so it has no importance" in words(client.get(address))
    assert "Similar to no source sentence" in words(client.get(address, {"scored_by": "published"}))
    repeated = scored.topic(study).summaries.get(system__name="=hat")
    page = words(client.get(reverse("summary", args=[study.pk, repeated.pk]), {"scored_by": "published"}))
    assert "redundancy 0.5000 " in page


def test_words_name_the_sentences_that_they_stand_in(client: Client, study: Study, owner: User) -> None:
    lead = scored.topic(study).summaries.get(system__name="lead & co_")
    page = words(client.get(reverse("summary", args=[study.pk, lead.pk])))
    assert "ohio 2" in page
    assert "d1:0 d1:1" in page


def test_every_word_that_changes_the_score_is_tinted_once_and_leads_to_its_term(
    client: Client, study: Study, owner: User
) -> None:
    for row in Score.objects.filter(summary__topic__study=study, scored_by="recommended", score__isnull=False):
        page = client.get(reverse("summary", args=[study.pk, row.summary_id]))
        changes = {term.word: term.contribution for term, _named in page.context["words"]}
        most = max(map(abs, changes.values()))
        tints = re.findall(r'class="tint shade-(\d)" href="#word-(\w+)" title="([+-])', page.content.decode())
        assert sorted(word for _, word, _ in tints) == sorted(
            word for word, change in changes.items() if abs(change) > LIGHT * most
        )
        for shade, word, sign in tints:
            assert (int(shade) > 4, sign) == ((True, "+") if changes[word] > 0 else (False, "-"))


def test_a_summary_without_a_score_shows_its_text(client: Client, study: Study, owner: User) -> None:
    Fit.objects.all().delete()
    lead = scored.topic(study).summaries.get(system__name="lead & co_")
    assert "It rained in Ohio." in words(client.get(reverse("summary", args=[study.pk, lead.pk])))


def test_sentences_are_searched_by_their_words_and_keep_their_places(client: Client, study: Study, owner: User) -> None:
    topic = scored.topic(study)
    address = reverse("topic", args=[study.pk, topic.pk])
    everything = client.get(address).context["rows"]
    place = next(row["place"] for row in everything if "hat" in row["sentence"].text)

    searched = client.get(address, {"words": "HAT"})
    rows = rows_of(client, reverse("topic_csv", args=[study.pk, topic.pk]))

    assert [(row["place"], row["sentence"].text) for row in searched.context["rows"]] == [(place, "He wore a hat.")]
    assert "No sentence has these words." in words(client.get(address, {"words": "elephant"}))
    assert [row["text"] for row in rows] == [row["sentence"].text for row in everything]
    assert float(rows[0]["utility"]) == everything[0]["utility"].utility


def test_a_system_is_followed_from_the_leaderboard_to_its_summaries(client: Client, study: Study, owner: User) -> None:
    board = client.get(reverse("leaderboard", args=[study.pk])).content.decode()
    for one in standings(study):
        address = reverse("system", args=[study.pk, one.system.pk])
        assert f'href="{address}?scored_by=recommended"' in board
        page = client.get(address)
        for score in Score.objects.filter(summary__system=one.system, scored_by="recommended"):
            assert reverse("summary", args=[study.pk, score.summary_id]) in page.content.decode()
            assert page.context["unit"].show(score.score) in words(page)
        assert f"{one.coverage:.2f}" in words(page)


def test_a_system_without_a_place_says_why(client: Client, study: Study, owner: User) -> None:
    off = study.systems.get(name="off")
    address = reverse("system", args=[study.pk, off.pk])
    assert "Not ranked: its summaries share no word with their sources." in words(client.get(address))
    assert "Rank" in words(client.get(address, {"scored_by": "published"}))


@pytest.mark.parametrize(
    ("deleted", "missing"),
    [("topics", "The study has no topics"), ("summaries", "There are no summaries to rank")],
)
def test_an_empty_leaderboard_names_what_is_missing(
    client: Client, study: Study, owner: User, deleted: str, missing: str
) -> None:
    study.rankings.all().delete()
    if deleted == "topics":
        empty = making.study(owner)
    else:
        empty = study
        Score.objects.filter(summary__topic__study=study).delete()
        Summary.objects.filter(topic__study=study).delete()
    page = client.get(reverse("leaderboard", args=[empty.pk]))
    assert missing in words(page)
    assert reverse("upload_new", args=[empty.pk]) in page.content.decode()


def test_a_leaderboard_without_judgments_asks_for_annotators(client: Client, new_study: Study) -> None:
    imports.store(new_study, formats.Bundle(topics=(scored.SNOW,)))
    tasks.catch_up(new_study.pk)
    page = client.get(reverse("leaderboard", args=[new_study.pk]))
    assert "No judgment counts here yet" in words(page)
    assert reverse("study_members", args=[new_study.pk]) in page.content.decode()


def test_topics_that_fail_are_named_and_nothing_is_mixed(client: Client, study: Study, owner: User) -> None:
    before = list(standings(study).values_list("system", "score"))
    studies.change_settings(study, owner, smooth="none", prior=0.0)
    tasks.catch_up(study.pk)
    board = client.get(reverse("leaderboard", args=[study.pk]))
    assert {failure.topic.name for failure in board.context["board"].failures} == {"rain", "snow"}
    assert "2 topics could not be scored" in words(board)
    assert "These are the scores of earlier settings" in words(board)
    assert list(standings(study).values_list("system", "score")) == before
    table = client.get(reverse("leaderboard_tex", args=[study.pk])).content.decode()
    assert "% These are the scores of earlier settings." in table
    assert table.count("% Could not be scored: ") == 2


# People


def test_an_invitation_is_made_shown_and_taken_back(client: Client, study: Study, owner: User) -> None:
    page = reverse("study_members", args=[study.pk])
    client.post(page, {"role": "annotator", "label": "class of May", "max_uses": "3"})
    invitation = Invitation.objects.get(study=study)
    assert (invitation.label, invitation.max_uses) == ("class of May", 3)
    line = client.get(page).context["invitations"][0]
    link = line["link"]
    assert line["text"].endswith(f"\n{link}\n")
    assert study.question in line["text"]
    assert "There are 14 pairs. It takes about 2 minutes." in line["text"]
    assert link.startswith("http://testserver/join/")
    client.logout()
    assert client.get(link).status_code == 200
    client.force_login(owner)
    client.post(reverse("invitation_revoke", args=[study.pk, invitation.pk]))
    assert client.get(page).context["invitations"][0]["link"] == ""
    assert "revoked" in words(client.get(page))


def test_an_invitation_is_shown_as_a_qr_code_of_its_link(client: Client, study: Study, owner: User) -> None:
    invitation = invitations.invite(study, owner, label="class of May")
    shown = client.get(reverse("invitation_qr", args=[study.pk, invitation.pk]))
    link = f"http://testserver{invitations.invitation_path(invitation)}"
    assert f'<a href="{link}">{link}</a>' in shown.content.decode()
    dark = {(x, y) for y, row in enumerate(segno.make_qr(link).matrix) for x, module in enumerate(row) if module}
    runs = re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", shown.context["code"].path)
    drawn = {(int(x) + step - 4, int(y) - 4) for x, y, width in runs for step in range(int(width))}
    assert drawn == dark
    assert shown.context["code"].size == 8 + len(segno.make_qr(link).matrix)
    invitations.revoke(invitation, owner)
    assert client.get(reverse("invitation_qr", args=[study.pk, invitation.pk])).status_code == 404


def test_an_admin_invites_annotators_and_sees_no_link_that_gives_more(client: Client, study: Study) -> None:
    invitations.invite(study, making.owner(study), role=Role.OWNER)
    client.force_login(making.member(study, Role.ADMIN))
    page = reverse("study_members", args=[study.pk])
    assert [line["link"] for line in client.get(page).context["invitations"]] == [""]
    client.post(page, {"role": "owner"})
    assert Invitation.objects.filter(study=study).count() == 1
    client.post(page, {"role": "annotator"})
    assert Invitation.objects.filter(study=study).count() == 2
    gives_more = Invitation.objects.get(role=Role.OWNER)
    assert client.get(reverse("invitation_qr", args=[study.pk, gives_more.pk])).status_code == 404
    assert client.post(reverse("invitation_revoke", args=[study.pk, gives_more.pk])).status_code == 403


def test_a_wrong_moment_is_said_beside_its_field(client: Client, study: Study, owner: User) -> None:
    answer = client.post(
        reverse("study_members", args=[study.pk]), {"role": "annotator", "expires_at": "2001-01-01T00:00"}
    )
    assert "This time is in the past" in words(answer)


def test_roles_change_and_the_last_owner_stays(client: Client, study: Study, owner: User) -> None:
    colleague = making.member(study, Role.RESEARCHER)
    client.post(reverse("member_role", args=[study.pk, colleague.pk]), {"role": "admin"})
    assert Membership.objects.get(user=colleague).role == Role.ADMIN
    answer = client.post(reverse("member_remove", args=[study.pk, owner.pk]), follow=True)
    assert "A study needs an owner" in words(answer)
    client.post(reverse("member_remove", args=[study.pk, colleague.pk]))
    assert not Membership.objects.filter(user=colleague).exists()


# Exports


def test_an_export_is_asked_for_written_and_fetched(client: Client, study: Study, owner: User) -> None:
    page = reverse("study_export", args=[study.pk])
    client.post(page)
    export = Export.objects.get(study=study)
    shown = client.get(page)
    assert "being written" in words(shown)
    assert client.get(page, {"seen": shown.context["version"]}).status_code == 204
    fetched = reverse("export_file", args=[study.pk, export.key])
    assert client.get(fetched).status_code == 404
    tasks.write_export(export.pk)
    assert fetched in client.get(page, {"seen": shown.context["version"]}).content.decode()
    answer = client.get(fetched)
    assert answer["Content-Disposition"].startswith('attachment; filename="weather-')
    assert b"".join(answer.streaming_content).startswith(b"PK")  # type: ignore[attr-defined]


def test_judgments_go_out_as_they_came_in(client: Client, study: Study, owner: User) -> None:
    answer = client.get(reverse("judgments_jsonl", args=[study.pk]))
    found = [json.loads(line) for line in b"".join(answer.streaming_content).splitlines()]  # type: ignore[attr-defined]

    assert [(one["topic"], one["a"], one["b"], one["winner"]) for one in found] == list(scored.JUDGED)
    assert [one.get("kind") for one in found] == ["human"] * 4 + ["simulated"] * 2
    assert len(found) == sum(1 for _ in exports.preferences(study)) == Judgment.objects.count()


@pytest.mark.parametrize(
    ("name", "content", "onward"),
    [
        ("topics.jsonl", making.lines(making.TOPIC | {"topic_id": "new"}), ("study_topics",)),
        ("scores.csv", b"topic,system,dimension,score\nrain,off,clarity,4\n", ("analysis", "metric-agreement")),
        ("summaries.csv", b"topic,system,text\nrain,new,It rained.\n", ("leaderboard",)),
    ],
)
def test_what_was_uploaded_leads_to_where_it_matters(
    client: Client, study: Study, owner: User, name: str, content: bytes, onward: tuple[str, ...]
) -> None:
    upload = making.store(study, content, name)
    page = client.get(reverse("upload", args=[study.pk, upload.key])).content.decode()
    assert f'id="onward" href="{reverse(onward[0], args=[study.pk, *onward[1:]])}"' in page
    assert (f'id="invite" href="{reverse("study_members", args=[study.pk])}"' in page) == (onward == ("study_topics",))


def test_words_that_two_sentences_share_are_marked_and_the_terms_can_be_copied(client: Client) -> None:
    assert mark_shared("Rain fell, rain.", "the RAIN") == [
        ("Rain", True),
        (" ", False),
        ("fell", False),
        (", ", False),
        ("rain", True),
        (".", False),
    ]
    assert mark_shared("暴雨在山谷。", "山谷中") == [
        ("暴", False),
        ("雨", False),
        ("在", False),
        ("山谷", True),
        ("。", False),
    ]
    assert mark_shared("राजा नदी", "राजू नदी") == [("राजा", False), (" ", False), ("नदी", True)]
    study = scored.scored_study()
    client.force_login(making.owner(study))
    row = Score.objects.filter(summary__topic__study=study, scored_by="published").earliest("pk")
    page = client.get(reverse("summary", args=[study.pk, row.summary_id]), {"scored_by": "published"})
    assert '<b class="shared">' in page.content.decode()
    copied = [line.split("\t") for line in page.context["copied"].split("\n")]
    assert sum(float(line[-1]) for line in copied[1:]) == pytest.approx(total(page))


def test_a_study_by_the_stop_rule_says_so_and_closes_once_all_its_systems_are_decided() -> None:
    study = scored.scored_study(stop_rule=True, equal_within=0.0001, closes_when_decided=True)
    client = Client()
    client.force_login(making.owner(study))
    board, file = reverse("leaderboard", args=[study.pk]), reverse("leaderboard_csv", args=[study.pk])
    assert "of this holds at every look together" in client.get(board).content.decode()
    (row, *_others) = rows_of(client, file)
    assert row["better_than_holds_at"] == "every look"
    study.refresh_from_db()
    assert study.state == Study.State.OPEN
    studies.change_settings(study, making.owner(study), equal_within=1.0, judgments_per_topic=4, seed=1)
    tasks.catch_up(study.pk)
    study.refresh_from_db()
    assert study.state == Study.State.OPEN  # six judgments are too few for any verdict
    turned = [(topic, second, first, answer) for topic, first, second, answer in scored.JUDGED]
    scored.judge(study, *(scored.JUDGED * 2), *(turned * 3))
    tasks.catch_up(study.pk)
    study.refresh_from_db()
    assert study.state == Study.State.CLOSED
    entry = AuditEntry.objects.filter(study=study, action="set state").latest("number")
    assert (entry.actor, entry.detail) == (None, {"before": "open", "after": "closed"})
    assert "=" in re.findall(r'<td class="number">([^<]*)', client.get(board).content.decode())
