"""A study's settings are declared once; columns, forms and the mathematics follow."""

from itertools import combinations

import pytest
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse

from annotate.forms import IN_FILES, StudyForm
from annotate.models import Study
from annotate.reports.method import settings_in_words
from preferendum.evidence import AS_PUBLISHED, Settings
from preferendum.fit.similarity import SIMILARITIES
from preferendum.formats.settings import PUBLISHED, SCORING, SETTINGS, Setting
from preferendum.metrics import registry
from preferendum.metrics.names import metrics, options_of, rests_on_all_topics, unknown_metrics
from tests.annotate import making
from tests.annotate.judging_study import prepare_pairs, ready_study

COLUMNS = {
    str: (models.CharField, models.TextField),
    bool: (models.BooleanField,),
    int: (models.IntegerField,),
    float: (models.FloatField,),
}
of_numbers = [setting for setting in SETTINGS if setting.type in (int, float)]


def name(setting: Setting) -> str:
    return setting.name


@pytest.mark.parametrize("setting", SETTINGS, ids=name)
def test_a_column_has_the_type_the_default_and_the_choices_of_its_setting(setting):
    field = Study._meta.get_field(setting.name)
    assert isinstance(field, COLUMNS[setting.type])
    assert field.get_default() == setting.default
    assert tuple(value for value, _label in field.choices or ()) == setting.choices
    assert field.verbose_name
    assert field.help_text
    if setting.type is str and not setting.choices:
        assert field.max_length == setting.high


@pytest.mark.parametrize("setting", of_numbers, ids=name)
def test_a_column_has_the_bounds_of_its_setting(setting):
    validators = Study._meta.get_field(setting.name).validators
    low = [one.limit_value for one in validators if isinstance(one, MinValueValidator)]
    high = [one.limit_value for one in validators if isinstance(one, MaxValueValidator)]
    assert (max(low), min(high)) == (setting.low, setting.high)


def test_a_study_can_have_every_metric_but_those_that_learn_with_every_option_but_files():
    learn_or_judge = {"trained", "simetrix-regression", "preferences", "win-rate"}
    assert set(metrics()) == {name for family in registry.families() for name in family.names} - learn_or_judge
    left_out = {"background", "systems", "jackknife"}  # files, systems; what is done wherever people are peers
    assert not any(left_out & options_of(name).keys() for name in metrics())
    assert not unknown_metrics(Study().metric_names)


VALUES = {"words": 5, "bytes": 9, "models": 2, "pseudo": 3, "alpha": 0.8, "skip": "any", "weight": 1.5, "cutoff": 4}


@pytest.mark.parametrize("base", metrics())
def test_names_with_options_are_those_of_the_metrics_and_rest_on_all_topics_where_these_do(base):
    written = [f"{option}={VALUES[option]}" if option in VALUES else option for option in options_of(base)]
    needs_texts_alone = base in ("unigram", "multinomial")  # of the same class as those with a background
    for asked in (":".join([base, *some]) for k in range(3) for some in combinations(written, k)):
        try:
            metric = registry.metric(asked)
        except registry.UnknownMetric:
            assert unknown_metrics(asked), asked
        else:
            assert not unknown_metrics(asked), asked
            sees_all = isinstance(metric, registry.SeesAllTopics) and not needs_texts_alone
            assert rests_on_all_topics(asked) == sees_all, asked


@pytest.mark.parametrize(
    "name", ["cosine:background=/etc/passwd", "js:f", "rouge-2:f:f", "rouge-2:words=0", "rouge-2:"]
)
def test_a_study_cannot_have_a_metric_with_an_option_that_is_none(name):
    assert unknown_metrics(f"js,{name}") == [name]


def test_every_similarity_that_a_study_can_choose_is_there():
    (similarity,) = (setting for setting in SCORING if setting.name == "similarity")
    assert set(similarity.choices) == set(SIMILARITIES)


def test_a_study_is_scored_by_default_as_the_command_line_and_the_mathematics_are():
    study = Study()
    assert Settings() == Settings(**{setting.name: getattr(study, setting.name) for setting in SCORING})


def test_a_form_asks_for_every_setting_but_those_of_programs_once_group_by_group():
    form = StudyForm()
    groups = form.groups()
    assert list(groups) == ["asked", "judging", "quality", "scoring", "stopping", "metrics"]
    asked = [field.name for fields in (form.first(), *groups.values()) for field in fields]
    assert sorted([*asked, *IN_FILES]) == sorted(one.name for one in SETTINGS)
    said = StudyForm(instance=Study(seed=7)).expert_values()
    assert said == ["seed: 7"]
    assert [choice.data["value"] for choice, _meaning in form.scores()] == ["importance", "published"]


def test_the_settings_say_whom_the_checks_do_not_find_beside_the_share_of_pairs(client, db):
    study = ready_study(sentences=30, pairs_per_annotator=60, shared_share=0.05, gold_share=0.25)
    client.force_login(making.owner(study))
    page = client.get(reverse("study_settings", args=[study.pk])).content.decode()
    said = page.partition('id="found">')[2].partition("</p>")[0]
    assert "(5% of pairs shared, 0% gold pairs), 0 of 10" in said  # the study has no gold pairs yet
    assert "25% gold pairs would find 8" in said
    prepare_pairs(study, "gold", 15)
    page = client.get(reverse("study_settings", args=[study.pk])).content.decode()
    assert "25% gold pairs), 8 of 10 annotators who toss a coin are found by 60 answers" in page


@pytest.mark.parametrize("setting", SCORING, ids=name)
def test_a_board_says_every_setting_that_scores_rest_on(setting):
    settings = {one.name: one.default for one in SCORING} | {"smooth": "none"}
    words = settings_in_words(settings)
    called = Study._meta.get_field(setting.name).verbose_name
    assert [one.partition(": ")[0] for one in words].count(called) == 1


def test_a_prior_is_not_spoken_of_beside_a_kernel_that_has_its_own():
    words = settings_in_words({one.name: one.default for one in SCORING})
    assert words[:2] == ["score: importance: of the judgments alone", "smoothing: kernel prior"]
    assert not any(one.startswith("prior") for one in words)


def test_the_papers_settings_are_called_the_papers_unless_annotators_are_weighed():
    assert settings_in_words(PUBLISHED | {"prior": 0.1}) == ["equations 2–5 as published (Zopf 2018)", "prior: 0.1"]
    assert "annotators weighted by reliability: yes" in settings_in_words(PUBLISHED | {"weigh_annotators": True})
    assert Settings(**PUBLISHED) == AS_PUBLISHED


def test_what_a_fit_of_an_earlier_version_does_not_say_is_left_out():
    assert settings_in_words({}) == []
    assert settings_in_words({"smooth": "none", "prior": 1.0}) == ["smoothing: none", "prior: 1"]
