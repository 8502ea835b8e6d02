import re
from functools import partial
from itertools import combinations
from uuid import uuid4

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate import crowd, imports, invitations, judging, studies
from annotate.models import AuditEntry, Membership, Study, Tally, Upload
from annotate.refusal import Refusal
from evaluation import tasks
from preferendum import formats
from preferendum.formats.records import Preference
from preferendum.formats.settings import NAMES
from tests.annotate import making
from tests.annotate.judging_study import ready_study
from tests.annotate.making import TOPIC, Role
from tests.annotate.test_judging_together import at_once

pytestmark = pytest.mark.django_db


def actions(study: Study | None) -> list[str]:
    return list(AuditEntry.objects.filter(study=study).order_by("pk").values_list("action", flat=True))


def test_whoever_may_not_begin_studies_begins_none():
    with pytest.raises(PermissionDenied):
        studies.create_study(making.person(), title="T", question="Q?")
    assert not Study.objects.exists()


def test_whoever_begins_a_study_owns_it():
    user = making.person(is_superuser=True)
    study = studies.create_study(user, title="T", question="Q?", seed=7)
    assert study.seed == 7
    assert Membership.objects.get(study=study).role == Role.OWNER
    assert actions(study) == ["create study"]


def test_whoever_researches_somewhere_may_begin_a_study_of_their_own():
    researcher = making.member(making.study(), Role.RESEARCHER)
    assert studies.create_study(researcher, title="T", question="Q?").created_by == researcher


@pytest.mark.parametrize("role", [Role.ADMIN, Role.ANNOTATOR])
def test_whoever_only_helps_somewhere_may_not(role):
    with pytest.raises(PermissionDenied):
        studies.create_study(making.member(making.study(), role), title="T", question="Q?")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", ""),
        ("title", "x" * 201),
        ("question", " "),
        ("judgments_per_pair", 0),
        ("judgments_per_topic", 1_000_001),
        ("prior", -1.0),
        ("prior", float("nan")),
        ("smooth", "more"),
        ("similarity", "guess"),
        ("seed", -1),
    ],
)
def test_a_setting_that_will_not_do_is_refused_by_name(field, value):
    study = making.study()
    with pytest.raises(Refusal) as refused:
        studies.change_settings(study, making.owner(study), **{field: value})
    assert list(refused.value.fields) == [field]
    assert actions(study) == ["create study"]


def test_changing_what_a_fit_rests_on_raises_the_version_of_every_topic():
    study = making.study()
    making.take_in(study, making.TOPIC, making.TOPIC | {"topic_id": "M2"})
    before = dict(Tally.objects.values_list("item_set__topic__name", "data_version"))
    studies.change_settings(study, making.owner(study), title="Snow", guidelines="Read.")
    assert dict(Tally.objects.values_list("item_set__topic__name", "data_version")) == before
    studies.change_settings(study, making.owner(study), prior=0.5)
    assert dict(Tally.objects.values_list("item_set__topic__name", "data_version")) == {
        n: v + 1 for n, v in before.items()
    }
    study.refresh_from_db()
    assert (study.title, study.prior) == ("Snow", 0.5)


def test_a_change_is_noted_with_what_was_and_what_is():
    study = making.study()
    studies.change_settings(study, making.owner(study), title="Rain", seed=3)
    assert AuditEntry.objects.get(action="change settings").detail == {"changes": {"seed": [0, 3]}}


def test_changing_nothing_notes_nothing():
    study = making.study()
    studies.change_settings(study, making.owner(study), title="Rain")
    assert actions(study) == ["create study"]


def test_another_language_has_the_texts_cut_anew():
    study = making.study()
    (own, other) = making.take_in(study, making.TOPIC | {"language": "de"}, making.TOPIC | {"topic_id": "M2"})
    studies.change_settings(study, making.owner(study), language="sw")
    own.refresh_from_db()
    other.refresh_from_db()
    assert (own.text_version, other.text_version) == (1, 2)


def test_states_are_noted_once():
    study = making.study()
    studies.set_state(study, making.owner(study), "paused")
    studies.set_state(study, making.owner(study), "paused")
    assert actions(study) == ["create study", "set state"]
    with pytest.raises(Refusal):
        studies.set_state(study, making.owner(study), "asleep")


def test_a_form_that_was_sent_twice_makes_one_study():
    user, token = making.person(is_superuser=True), uuid4()
    first = studies.create_study(user, token, title="T")
    assert studies.create_study(user, token, title="T") == first
    assert studies.create_study(user, title="T") != first


@pytest.mark.django_db(transaction=True)
def test_a_form_that_is_sent_eight_times_at_once_makes_one_study():
    user, token = making.person(is_superuser=True), uuid4()
    made = at_once(*[partial(studies.create_study, user, token, title="T")] * 8)
    assert {study.pk for study in made} == {Study.objects.get().pk}


def test_a_copy_has_settings_consent_and_topics_and_none_of_the_people():
    study = making.study(score="combined", guidelines="Look twice.", judgments_per_pair=2)
    owner, researcher = making.owner(study), making.member(study, Role.RESEARCHER)
    (topic,) = making.take_in(study, TOPIC)
    judging.join(study)
    invitations.invite(study, owner)
    crowd.recruit(study, owner, consent="I take part.", platform="prolific", code_done="D1")

    copy = studies.copy_study(study, researcher, title="Again", with_topics=True)
    assert {name: getattr(copy, name) for name in NAMES} == {name: getattr(study, name) for name in NAMES} | {
        "title": "Again"
    }
    assert (copy.recruitment.consent, copy.recruitment.platform) == ("I take part.", "none")
    assert not copy.annotators.exists()
    assert not copy.invitations.exists()
    assert [(row.user, row.role) for row in copy.memberships.all()] == [(researcher, Role.OWNER)]
    assert not copy.topics.exists(), "topics are looked at before they are stored"
    assert actions(copy)[-1] == actions(study)[-1] == "copy study"

    upload = written(copy)
    imports.confirm(upload, researcher)
    imports.process(upload)
    assert list(copy.topics.get().sentence_set.items.values_list("text", flat=True)) == list(
        topic.sentence_set.items.values_list("text", flat=True)
    )
    assert copy.topics.get().summaries.count() == topic.summaries.count() > 0


def test_sentences_of_a_copy_are_cut_as_in_the_study():
    study = making.study()
    (topic,) = making.take_in(study, TOPIC)
    document = topic.documents.get(name="d2")
    imports.mend(document, [document.text], making.owner(study))
    making.prepare(topic)
    copy = studies.copy_study(study, making.owner(study), title="Again", with_topics=True)
    cuts = {row["document"]: row["sentences"] for row in written(copy).preview["cuts"]}
    assert [len(cuts[name]) for name in ("d1", "d2")] == [3, 1]


@pytest.mark.django_db(transaction=True)
def test_others_write_while_the_topics_of_a_copy_are_written_as_they_were_at_one_moment(monkeypatch):
    study = making.study()
    making.take_in(study, TOPIC)
    write = formats.write_topics

    def write_slowly(topics, file):
        at_once(partial(making.take_in, study, making.TOPIC | {"topic_id": "late"}))
        write(topics, file)

    monkeypatch.setattr(formats, "write_topics", write_slowly)
    copy = studies.copy_study(study, making.owner(study), title="Again", with_topics=True)
    upload = written(copy)
    assert [topic["name"] for topic in upload.preview["topics"]] == [TOPIC["topic_id"]]
    assert study.topics.count() == 2


def test_a_copy_whose_study_is_gone_before_its_topics_are_written_says_so():
    study = making.study()
    making.take_in(study)
    copy = studies.copy_study(study, making.owner(study), title="Again", with_topics=True)
    studies.delete_study(study, making.owner(study))
    assert written(copy).state == "refused"


def written(copy: Study) -> Upload:
    """The upload with a copy's topics, once the worker has written and read it."""
    upload = copy.uploads.get()
    for _turn in range(2):
        tasks.process_upload(upload.pk)
    upload.refresh_from_db()
    return upload


def test_a_form_that_asks_twice_for_a_copy_makes_one_and_an_empty_study_is_copied_without_an_upload():
    study, token = making.study(), uuid4()
    copies = [
        studies.copy_study(study, making.owner(study), title="Again", with_topics=True, form_token=token)
        for _time in range(2)
    ]
    assert copies[0] == copies[1]
    assert actions(copies[0]) == ["create study", "copy study"]
    assert not copies[0].uploads.exists()


def test_whoever_may_not_begin_studies_copies_none():
    study = making.study()
    with pytest.raises(PermissionDenied):
        studies.copy_study(study, making.member(study, Role.ADMIN), title="Again")


@pytest.mark.parametrize(
    "title", ["\u200b\u00ad", "\u2800", "\u3164 \u3164", "\u115f\u1160", "\uffa0", "\ufe0f", "\U000e0061"]
)
def test_a_title_of_invisible_characters_is_none(title):
    with pytest.raises(Refusal):
        studies.create_study(making.person(is_superuser=True), title=title)


def test_a_file_whose_name_shows_nothing_is_called_an_upload():
    assert making.receive(making.study(), making.lines(making.TOPIC), "\u3164\u2800").filename == "upload"


def test_deleting_a_study_takes_everything_with_it_and_leaves_a_line(django_capture_on_commit_callbacks):
    study = making.study()
    upload = making.receive(study, making.lines(making.TOPIC))
    making.take_in(study)
    with django_capture_on_commit_callbacks(execute=True):
        studies.delete_study(study, making.owner(study))
    assert not Study.objects.exists()
    assert not upload.file.storage.exists(upload.file.name)
    assert actions(None) == ["delete study"]


def test_only_owners_delete_a_study():
    study = making.study()
    with pytest.raises(PermissionDenied):
        studies.delete_study(study, making.member(study, Role.RESEARCHER))


@pytest.mark.parametrize("text", ["a\x00b", "a\x0cb", "a\ud800b", "e" + "\u0301\u0316" * 40])
@pytest.mark.parametrize("field", ["title", "question", "guidelines"])
def test_what_would_break_a_database_or_a_page_is_refused(field, text):
    study = making.study()
    with pytest.raises(Refusal) as refused:
        studies.change_settings(study, making.owner(study), **{field: text})
    assert list(refused.value.fields) == [field]


def test_what_people_type_is_stored_as_texts_from_files_are():
    study = making.study(title="  Caf\u0065\u0301 ", guidelines="One.\r\nTwo.")
    assert (study.title, study.guidelines) == ("Caf\u00e9", "One.\nTwo.")


@pytest.mark.parametrize("tag", ["en_US", "en us", "e", "-", "<b>"])
def test_a_language_is_a_tag(tag):
    study = making.study(language="zh-Hans")
    with pytest.raises(Refusal):
        studies.change_settings(study, making.owner(study), language=tag)


def test_a_surplus_in_one_topic_fills_no_gap_in_another_on_any_page(client: Client) -> None:
    study = ready_study(sentences=60, topics=2, judgments_per_topic=1_000, judgments_per_pair=1)
    judged = [Preference("T0", f"d1:{i}", f"d1:{j}", "a") for i, j in combinations(range(60), 2)][:1_200]
    judging.import_judgments(study, judged, "human", "ann")
    client.force_login(making.owner(study))
    for page in (reverse("studies"), reverse("study", args=[study.pk])):
        text = " ".join(re.sub("<[^>]*>", " ", client.get(page).content.decode()).split())
        assert "1,000 of 2,000 requested" in text, page
        assert 'value="1000" max="2000"' in client.get(page).content.decode(), page
    queries = []
    for _time in range(2):
        with CaptureQueriesContext(connection) as captured:
            client.get(reverse("studies"))
        queries.append(len(captured))
        for _study in range(3):
            making.study(owner=making.owner(study))
    assert queries[0] == queries[1]
