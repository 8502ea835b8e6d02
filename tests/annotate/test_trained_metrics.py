"""Training metrics on the website: asked for on a page or through the API, learnt by the worker, used, exported."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

import formats.study
from annotate import exports, training
from annotate.imports.restore import restore
from annotate.models import AuditEntry, ComputedScore, Membership, Reference, Study, Topic, TopicMetrics, TrainedMetric
from annotate.refusal import Refusal
from evaluation.meta.preference_training import PreferenceCourse
from evaluation.meta.training import Course
from evaluation.metrics.registry import prepared
from evaluation.metrics.trained import Trained
from evaluation.worker import agenda, tasks
from formats.study_records import StudyArchive
from formats.trained_metrics import read_trained_metric
from tests.annotate import making
from tests.annotate.everything import program
from tests.annotate.making import Role
from tests.evaluation.test_training import course, records_of, steps
from tests.evaluation.test_training import study as scored_topics

pytestmark = pytest.mark.django_db

TOPICS = scored_topics(6)
LATER = [replace(topic, sentences=(f"Later {k}.",)) for k, topic in enumerate(scored_topics(6, seed=1))]


@pytest.fixture
def study() -> Study:
    made = making.study(title="Reviews")
    making.take_in(made, *records_of(TOPICS))
    for topic in made.topics.all():
        making.prepare(topic)
    return made


@pytest.fixture
def client(study: Study) -> Client:
    client = Client()
    client.force_login(making.owner(study))
    return client


def asked(study: Study, **changes: str) -> dict[str, str]:
    return {"name": "mine", "teaching": f"{study.pk}:overall", "method": "nnls", "peers": "machines"} | changes


def ask(study: Study, client: Client, **changes: str) -> TrainedMetric:
    response = client.post(reverse("metric_train", args=[study.pk]), asked(study, **changes))
    assert response.status_code == 302, response.content.decode()
    return TrainedMetric.objects.filter(study=study).latest("pk")


def trained(metric: TrainedMetric) -> TrainedMetric:
    """As the worker does, turn by turn, for as long as its agenda has it."""
    for _turn in range(40):
        if agenda.find("train_metric", metric.pk) is None:
            break
        tasks.train_metric(metric.pk)
    metric.refresh_from_db()
    return metric


def offline() -> Course:
    return course(TOPICS, method="nnls", source="Reviews")


def test_the_worker_learns_what_the_command_line_does_and_the_page_shows_it(study: Study, client: Client) -> None:
    page = client.get(reverse("trained_metrics", args=[study.pk])).content.decode()
    assert "There are no trained metrics yet." in page
    assert f'<option value="{study.pk}:overall">overall</option>' in page

    metric = trained(ask(study, client))

    expected = offline().trained(steps(offline()))
    assert metric.state == "ready", metric.problem
    assert metric.record is not None
    assert metric.record.linear == expected.linear
    assert metric.record.left_out == expected.left_out
    assert [source.name for source in metric.record.sources] == ["Reviews"]
    text = client.get(reverse("trained_metric", args=[study.pk, metric.key])).content.decode()
    for feature, (weight, _mean) in expected.linear.features.items():
        assert f'<code>{feature}</code></th><td class="number">{weight:.4g}' in text
    report = offline().report(expected).agreement.metrics
    for row in report[:2]:
        assert f"{row.correlations['system']['pearson'].value:.3f}" in text
    assert "topics left out:" in client.get(reverse("trained_metrics", args=[study.pk])).content.decode()


def test_files_are_the_metric_for_the_command_line_and_its_coefficients(study: Study, client: Client) -> None:
    metric = trained(ask(study, client))

    json_file, table, latex = (
        client.get(reverse(f"trained_metric_{form}", args=[study.pk, metric.key])) for form in ("json", "csv", "tex")
    )

    assert read_trained_metric(io.BytesIO(json_file.content), "mine.json") == metric.record
    assert table.content.decode().splitlines()[0] == "feature,coefficient,chosen"
    assert b"\\toprule" in latex.content
    waiting = ask(study, client, name="later")
    assert client.get(reverse("trained_metric_json", args=[study.pk, waiting.key])).status_code == 404


def test_in_use_it_scores_every_topic_by_what_was_learnt_without_it(study: Study, client: Client) -> None:
    metric = trained(ask(study, client))
    client.post(reverse("trained_metric_use", args=[study.pk, metric.key]), {"used": "1"})

    score(study)

    assert metric.record is not None
    expected = Trained.of("trained:mine", metric.record)
    for topic in TOPICS:
        rows = ComputedScore.objects.filter(summary__topic__name=topic.topic_id, metric="trained:mine")
        found = dict(rows.values_list("summary__system__name", "score"))
        scores = expected.score(topic).tolist()
        assert found == pytest.approx(
            {own.system: score for own, score in zip(topic.summaries, scores, strict=True)}, abs=1e-9
        )
        assert list(found.values()) != pytest.approx(
            Trained.of("x", metric.record, in_sample=True).score(topic).tolist(), abs=1e-6
        )
    signature = TopicMetrics.objects.filter(topic__study=study)[0].signatures["trained:mine"]
    assert "learnt from Reviews (6 topics, 36 summaries" in signature
    assert "these topics by what was learnt without them" in signature
    tasks.compare_metrics(study.pk)
    assert "mine (trained)" in client.get(reverse("study_metrics", args=[study.pk])).content.decode()

    client.post(reverse("trained_metric_use", args=[study.pk, metric.key]), {"used": "0"})
    score(study)

    assert not ComputedScore.objects.filter(metric="trained:mine").exists()


@pytest.fixture
def rated() -> Study:
    """Two assessors a topic; of the first two topics one is right, and the other gave anything."""
    records = records_of(TOPICS)
    for k, record in enumerate(records):
        for s, summary in enumerate(record["summaries"]):
            right = summary.pop("human")["overall"]
            given = {"Ada": right, "Bob": float(s * 17 % 5) if k < 2 else right}
            summary["ratings"] = [{"assessor": name, "overall": score} for name, score in given.items()]
    made = making.study(title="Reviews")
    making.take_in(made, *records)
    return made


def test_it_learns_nothing_from_the_ratings_of_assessors_that_are_left_out(rated: Study) -> None:
    client = Client()
    client.force_login(making.owner(rated))
    page = client.get(reverse("trained_metrics", args=[rated.pk]), {"without_assessors": "Bob"}).content.decode()
    assert 'name="without_assessors" value="Bob"' in page
    all_of_them = trained(ask(rated, client, name="all"))

    without = trained(ask(rated, client, without_assessors=" Bob, "))

    expected = course(TOPICS, method="nnls", source="Reviews without Bob")
    learnt = expected.trained(steps(expected))
    assert all_of_them.record is not None
    assert without.record is not None, without.problem
    features = without.record.linear.features
    assert {name: weight for name, (weight, _mean) in features.items()} == pytest.approx(
        {name: weight for name, (weight, _mean) in learnt.linear.features.items()}
    )
    assert without.record.linear != all_of_them.record.linear
    assert without.record.sources[0].name == "Reviews without Bob"
    text = client.get(reverse("trained_metric", args=[rated.pk, without.key])).content.decode()
    assert "learnt from Reviews without Bob" in text


def test_who_rated_another_study_is_not_told_and_nobody_unknown_can_be_left_out(rated: Study, study: Study) -> None:
    user = making.owner(rated)
    asked = {"name": "a", "method": "nnls", "target": "overall"}

    metric = training.train(study, user, rated, without_assessors=["Bob"], **asked)

    assert metric.source_title == "Reviews without 1 assessor"
    assert "Bob" not in str(AuditEntry.objects.filter(study=study).values_list("detail", flat=True))
    with pytest.raises(Refusal, match="No assessor is called “Eve”"):
        training.train(rated, user, rated, without_assessors=["Eve"], **asked)
    with pytest.raises(Refusal, match="name no assessors"):
        training.train(study, user, study, without_assessors=["Bob"], **asked | {"name": "b"})


def score(study: Study) -> None:
    for key in list(Topic.objects.unscored().filter(study=study).values_list("pk", flat=True)):
        tasks.score_with_metrics(key)


def test_simetrix_learns_from_and_scores_by_what_rests_on_all_topics() -> None:
    topics = [
        replace(topic, sentences=(*topic.references[0], f"Topic {k}."), sentence_ids=("d:0", "d:1", "d:2", "d:3"))
        for k, topic in enumerate(scored_topics(8))
    ]
    study = making.study(title="Reviews")
    for topic in making.take_in(study, *records_of(topics)):
        making.prepare(topic)
    asked = {"name": "mine", "method": "least-squares", "target": "overall"}
    metric = trained(training.train(study, making.owner(study), study, **asked))
    assert metric.record is not None, metric.problem
    assert metric.record.linear.features["cosine"][0] != 0

    training.use(metric, making.owner(study), True)
    score(study)
    assert not ComputedScore.objects.filter(metric="trained:mine").exists(), "until all topics have been seen"
    tasks.score_across_topics(study.pk)

    (by_library,) = prepared([Trained.of("mine", metric.record)], topics)
    for topic in topics:
        rows = ComputedScore.objects.filter(metric="trained:mine", summary__topic__name=topic.topic_id)
        stored = dict(rows.values_list("summary__system__name", "score"))
        systems = [summary.system for summary in topic.summaries]
        assert [stored[system] for system in systems] == pytest.approx(by_library.score(topic).tolist())
    training.use(metric, making.owner(study), False)
    score(study)
    assert not ComputedScore.objects.filter(metric="trained:mine").exists()


def test_a_topic_that_nothing_was_learnt_without_has_no_score_and_the_page_says_why(
    study: Study, client: Client
) -> None:
    metric = trained(ask(study, client))
    TrainedMetric.objects.filter(pk=metric.pk).update(model=metric.model | {"left_out": []}, used=True)

    score(study)
    tasks.compare_metrics(study.pk)

    assert not ComputedScore.objects.filter(metric="trained:mine").exists()
    text = client.get(reverse("study_metrics", args=[study.pk])).content.decode()
    assert "mine (trained) learnt from these topics, and nothing without them: T0, T1" in text


def test_a_long_training_comes_in_turns_and_tells_how_far_it_is(
    study: Study, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "LONG_TURN", 0.0)
    metric = ask(study, client)
    tasks.train_metric(metric.pk)
    tasks.train_metric(metric.pk)

    metric.refresh_from_db()
    assert (metric.done, len(metric.parts["topics"]), metric.state) == (2, 2, "waiting")
    seen = client.get(reverse("trained_metrics", args=[study.pk]))
    assert "2 of 17 steps" in seen.content.decode()
    address = f"{reverse('trained_metrics', args=[study.pk])}?seen={seen.context['version']}"
    assert client.get(address).status_code == 204
    tasks.train_metric(metric.pk)
    assert "3 of 17 steps" in client.get(address).content.decode()
    assert trained(metric).record is not None
    assert metric.record is not None
    assert metric.record.linear == offline().step(0).linear
    assert metric.parts == {}


def test_what_is_cancelled_in_the_middle_of_a_step_is_not_gone_on_with(
    study: Study, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric = ask(study, client)
    taken = []
    step = Course.step

    def cancelled_meanwhile(own: Course, number: int) -> object:
        taken.append(number)
        if number == 1:
            client.post(reverse("trained_metric_delete", args=[study.pk, metric.key]))
        return step(own, number)

    monkeypatch.setattr(Course, "step", cancelled_meanwhile)
    tasks.train_metric(metric.pk)

    assert taken == [0, 1]
    assert not TrainedMetric.objects.exists()
    assert agenda.find("train_metric", metric.pk) is None
    actions = list(AuditEntry.objects.filter(study=study).order_by("number").values_list("action", flat=True))
    assert actions[-2:] == ["train metric", "cancel training"]


def test_features_are_fitted_on_one_study_and_chosen_by_another(study: Study, client: Client) -> None:
    other = making.study(making.owner(study), title="Last year")
    making.take_in(other, *records_of(LATER))
    for topic in other.topics.all():
        making.prepare(topic)

    metric = trained(ask(study, client, first=str(other.pk)))

    expected = course(TOPICS, LATER, method="nnls", source="Reviews", chosen_by="Last year")
    assert metric.record is not None, metric.problem
    assert metric.record.linear == expected.trained(steps(expected)).linear
    learnt, chosen = metric.record.sources
    assert (learnt.name, learnt.use, next(iter(learnt.topics))) == ("Reviews", "learnt", "T0")
    assert (chosen.name, chosen.use, next(iter(chosen.topics))) == ("Last year", "chosen", "1"), (
        "no names of its topics"
    )
    page = client.get(reverse("trained_metric", args=[study.pk, metric.key])).content.decode()
    assert "features first fitted on Last year" in page
    with pytest.raises(Refusal) as refused:
        training.train(study, making.owner(study), study, name="x", method="nnls", target="overall", first=study)
    assert set(refused.value.fields) == {"first"}
    other.delete()
    gone = ask(study, client, name="later")
    TrainedMetric.objects.filter(pk=gone.pk).update(first_title="Last year")
    assert "was deleted" in trained(gone).problem


def test_another_study_teaches_and_only_those_who_see_it_may_choose_it(study: Study) -> None:
    other = making.study(making.owner(study), title="Elsewhere")
    researcher = making.member(other, Role.RESEARCHER)
    api, client = program(researcher), Client()
    client.force_login(researcher)
    address = f"/api/v1/studies/{other.pk}/trained-metrics/"
    body = {"name": "theirs", "method": "canon", "target": "overall", "source": study.pk}

    assert client.post(reverse("metric_train", args=[other.pk]), asked(study)).status_code == 200
    refused = api.post(address, body, format="json")
    assert refused.status_code == 400
    assert refused.json()["error"]["fields"] == {"source": ["You can see no such study."]}
    Membership.objects.create(study=study, user=researcher, role=Role.ADMIN)
    assert api.post(address, body, format="json").status_code == 202

    metric = trained(TrainedMetric.objects.get(name="theirs"))
    assert metric.record is not None
    (source,) = metric.record.sources
    assert (source.name, list(source.topics)) == ("Reviews", [*map(str, range(1, 7))])
    assert "T0" not in json.dumps(metric.report)
    assert AuditEntry.objects.filter(study=study, action="train metric of another study").exists()
    told = api.get(f"{address}{metric.key}/").json()
    assert told["report"]["agreement"]["metrics"][0]["metric"] == "left-out"
    assert told["model"]["method"] == "canon"
    making.take_in(other, *records_of(TOPICS[:2]))
    for topic in other.topics.all():
        making.prepare(topic)
    assert api.patch(f"{address}{metric.key}/", {"used": True}, format="json").json()["used"] is True
    score(other)
    assert ComputedScore.objects.filter(summary__topic__study=other, metric="trained:theirs").count() == 12


def test_too_little_to_learn_from_and_a_study_that_is_gone_are_told(study: Study, client: Client) -> None:
    small = making.study(making.owner(study), title="Small")
    making.take_in(small, *records_of(TOPICS[:3]))
    metric = trained(ask(study, client, teaching=f"{small.pk}:overall"))

    assert metric.state == "failed"
    assert "of 3 systems on 4 topics" in client.get(reverse("trained_metrics", args=[study.pk])).content.decode()
    gone = ask(study, client, name="gone", teaching=f"{small.pk}:style")
    small.delete()
    assert trained(gone).problem == "The study that it was to learn from was deleted."


def test_an_archive_takes_trained_metrics_along(study: Study, client: Client, tmp_path) -> None:
    metric = trained(ask(study, client))
    training.use(metric, making.owner(study), True)
    archive = exports.make_archive(study)
    with (tmp_path / "s.zip").open("wb") as file:
        formats.study.write(archive, file)

    back = formats.study.read(tmp_path / "s.zip")
    assert isinstance(back, StudyArchive)
    assert back.trained_metrics == archive.trained_metrics
    copy = TrainedMetric.objects.get(study=restore(back, making.owner(study), title="Copy"))
    assert (copy.name, copy.used, copy.record) == ("mine", True, metric.record)
    assert copy.report_record == metric.report_record
    again = exports.make_archive(copy.study)
    assert again.trained_metrics == archive.trained_metrics


def test_an_archive_names_no_file_for_the_worker_to_open(study: Study, client: Client, tmp_path) -> None:
    archive = exports.make_archive(trained(ask(study, client)).study)
    (record,) = archive.trained_metrics
    with_file = replace(record, metric=replace(record.metric, options={"background": "/etc/passwd"}))
    with (tmp_path / "s.zip").open("wb") as file:
        formats.study.write(replace(archive, trained_metrics=(with_file,)), file)
    with pytest.raises(formats.Refused, match="the name of a file"):
        formats.study.read(tmp_path / "s.zip")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "a:b"}, "name"),
        ({"name": " "}, "name"),
        ({"name": "x" * 61}, "name"),
        ({"method": "magic"}, "method"),
        ({"peers": "people"}, "peers"),
        ({"target": "grammar"}, "target"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_at_its_field(study: Study, changes: dict[str, str], field: str) -> None:
    wanted = {"name": "mine", "method": "nnls", "target": "overall", "peers": "machines"} | changes
    with pytest.raises(Refusal) as refused:
        training.train(study, making.owner(study), study, **wanted)

    assert set(refused.value.fields) == {field}


def test_there_are_limits_and_names_are_given_once(study: Study) -> None:
    owner = making.owner(study)
    wanted = {"method": "nnls", "target": "overall"}
    for number in range(training.MOST_WAITING):
        training.train(study, owner, study, name=f"m{number}", **wanted)
    with pytest.raises(Refusal, match="3 metrics are being trained"):
        training.train(study, owner, study, name="more", **wanted)
    TrainedMetric.objects.update(state="ready")
    with pytest.raises(Refusal) as twice:
        training.train(study, owner, study, name="m0", **wanted)
    assert "name" in twice.value.fields
    for number in range(training.MOST_WAITING, training.MOST):
        making.trained_metric(study, f"m{number}")
    with pytest.raises(Refusal, match="at most 20"):
        training.train(study, owner, study, name="more", **wanted)


def test_the_pages_ask_few_queries(
    study: Study, client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    metric = trained(ask(study, client))
    for number in range(10):
        making.trained_metric(study, f"m{number}")
    with django_assert_max_num_queries(20):
        client.get(reverse("trained_metrics", args=[study.pk]))
    with django_assert_max_num_queries(20):
        client.get(reverse("trained_metric", args=[study.pk, metric.key]))


def test_references_teach_without_human_scores_what_the_command_line_learns_from_them(
    study: Study, client: Client
) -> None:
    page = client.get(reverse("trained_metrics", args=[study.pk])).content.decode()
    assert f'<option value="{study.pk}:">references, without human scores</option>' in page

    metric = trained(ask(study, client, teaching=f"{study.pk}:", method="bradley-terry"))

    assert metric.state == "ready", metric.problem
    assert (metric.target, metric.peers) == ("", "")
    with_references = [topic for topic in TOPICS if topic.references]
    expected, pairs = PreferenceCourse("Reviews").train(with_references)
    assert metric.record is not None
    assert metric.record.sources[0].summaries == expected.sources[0].summaries == pairs.references
    assert metric.record.linear.features.keys() == expected.linear.features.keys()
    assert metric.report_record is not None
    assert metric.report_record.agreement is None
    assert metric.report_record.pairs is not None
    text = client.get(reverse("trained_metric", args=[study.pk, metric.key])).content.decode()
    assert "PrefScore with simple features" in text
    assert "learnt from the references of Reviews" in text
    assert f"{metric.report_record.pairs.accuracy.value:.3f} [" in text
    assert "by length alone:" in client.get(reverse("trained_metrics", args=[study.pk])).content.decode()
    latex = client.get(reverse("trained_metric_tex", args=[study.pk, metric.key])).content.decode()
    assert "pairs of other stories told apart" in latex

    client.post(reverse("trained_metric_use", args=[study.pk, metric.key]), {"used": "1"})
    score(study)

    assert ComputedScore.objects.filter(metric="trained:mine").count() == sum(len(t.summaries) for t in TOPICS)


def test_the_api_asks_for_it_without_a_target_and_an_archive_takes_it_along(study: Study, tmp_path) -> None:
    api = program(making.owner(study))
    body = {"name": "mine", "method": "bradley-terry"}
    address = f"/api/v1/studies/{study.pk}/trained-metrics/"

    assert api.post(address, body, format="json").status_code == 202
    metric = trained(TrainedMetric.objects.get(name="mine"))

    told = api.get(f"{address}{metric.key}/").json()
    assert told["report"]["agreement"] is None
    assert 0 <= told["report"]["pairs"]["accuracy"]["value"] <= 1
    with (tmp_path / "s.zip").open("wb") as file:
        formats.study.write(exports.make_archive(study), file)
    back = formats.study.read(tmp_path / "s.zip")
    assert isinstance(back, StudyArchive)
    copy = TrainedMetric.objects.get(study=restore(back, making.owner(study), title="Copy"))
    assert (copy.record, copy.report_record) == (metric.record, metric.report_record)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "bradley-terry"}, "This method learns from references: choose those of a study."),
        ({"references": "1"}, "Choose human scores for this method."),
    ],
)
def test_a_method_takes_what_it_learns_from(
    study: Study, client: Client, changes: dict[str, str], message: str
) -> None:
    wanted = asked(study, **changes)
    if wanted.pop("references", ""):
        wanted["teaching"] = f"{study.pk}:"

    page = client.post(reverse("metric_train", args=[study.pk]), wanted)

    assert page.status_code == 200
    assert message in page.content.decode()
    assert not TrainedMetric.objects.exists()


def test_references_are_asked_for_without_a_target_of_a_study_that_has_them(study: Study) -> None:
    owner = making.owner(study)
    with pytest.raises(Refusal) as refused:
        training.train(study, owner, study, name="a", method="bradley-terry", target="overall")
    assert set(refused.value.fields) == {"target"}
    Reference.objects.all().delete()
    with pytest.raises(Refusal) as refused:
        training.train(study, owner, study, name="a", method="bradley-terry")
    assert set(refused.value.fields) == {"source"}


def test_references_teach_up_to_a_limit_and_a_cancelled_training_ends(
    study: Study, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.worker.training.MOST_REFERENCES", 3)
    wanted = {"teaching": f"{study.pk}:", "method": "bradley-terry"}
    some = trained(ask(study, client, **wanted))
    assert some.record is not None
    assert 0 < len(some.record.sources[0].topics) < len(TOPICS)

    cancelled = ask(study, client, name="never", **wanted)
    monkeypatch.setattr(training, "note_progress", lambda *_: False)
    tasks.train_metric(cancelled.pk)
    cancelled.refresh_from_db()
    assert (cancelled.state, cancelled.model) == ("waiting", {})
