"""Every figure and claim of a study's pages is what other code counts and concludes from its exported archive."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, pairwise
from random import Random
from statistics import median
from typing import Any

import pytest
from django.test import override_settings
from django.urls import reverse

from annotate import crowd, exports, judging, studies
from annotate.judging import checks, choosing, drawing
from annotate.management.commands import demo
from annotate.models import Annotator, Assignment, Participation, Study
from annotate.reports import leaderboard, methods_section, statement, study_facts
from evaluation import tasks
from preferendum.formats.archive import study as study_archive
from preferendum.formats.judge import Judge
from preferendum.formats.records import Preference
from preferendum.results import to_json
from tests.annotate import making
from tests.annotate.everything import program, undone
from tests.annotate.judging_study import drawn, joined, judged, prepare_pairs
from tests.annotate.reading import address, signed_in
from tests.annotate.reading import text_of as page_of
from tests.annotate.recount import (
    Recount,
    Row,
    alike_said,
    brackets_of,
    claims_of,
    has_no_fewer_wins,
    kinds_words,
    paragraphs,
    people_named,
    text_of,
    widths,
)

pytestmark = pytest.mark.django_db

NOUNS = ("rain", "snow", "hail", "wind", "fog", "heat", "ice", "dust", "surf", "ash")


def topics(number: int = 3, sentences: int = 6, systems: int = 4) -> list[dict[str, Any]]:
    """Topics in which system 0 has the first sentence, system 1 the next, and so on."""
    made = []
    for topic in range(number):
        texts = [f"The {NOUNS[k % 10]}{k} came over town{topic} by night{k}." for k in range(sentences)]
        summaries = [{"system": f"system {k}a", "text": f"{texts[k % sentences]} Version {k}."} for k in range(systems)]
        document = {"id": "d1", "sentences": texts}
        made.append({"topic_id": f"T{topic}", "documents": [document], "summaries": summaries})
    return made


def study_of(*records: dict[str, Any], **settings: Any) -> Study:
    own = {"compares": "both", "judgments_per_pair": 9, "pairs_per_annotator": 200, "title": "Weather"} | settings
    made = making.study(**own)
    making.store(made, making.lines(*(records or topics())), "topics.jsonl")
    for topic in made.topics.all():
        making.prepare(topic)
    return Study.objects.get(pk=made.pk)


def answered(annotator: Annotator, number: int, chance: Random | None = None) -> list[Assignment]:
    """Answers for what comes first in the texts or, now and then, by chance for the other."""
    given = []
    for _answer in range(number):
        shown = drawn(annotator)
        is_left = shown.left.system < shown.right.system if shown.left.system else shown.left.index < shown.right.index
        is_left = is_left != (chance is not None and chance.random() < 0.2)
        judging.record_judgment(shown, 1, "left" if is_left else "right", 5.0)
        given.append(shown)
        annotator.refresh_from_db()
    return given


def votes(
    study: Study,
    people: int,
    each: int,
    of: str = "summaries",
    right: float = 0.85,
    kind: str = "human",
    name: str = "p",
) -> None:
    """Bring in answers of so many annotators, for the system with the lower number, or sentence, so often."""
    chance, given = Random(f"{people} {each} {of}"), []
    names = {
        topic.name: [own.system.name for own in topic.summaries.select_related("system").order_by("pk")]
        if of == "summaries"
        else [f"d1:{k}" for k in range(topic.sentence_set.items.count())]
        for topic in study.topics.all()
    }
    order = sorted(names)
    for person in range(people):
        for number in range(each):
            topic = order[(person * each + number) % len(order)]
            first, second = sorted(chance.sample(range(len(names[topic])), 2))
            a, b = names[topic][first], names[topic][second]
            winner = "a" if chance.random() < right else "b"
            if chance.random() < 0.5:
                a, b, winner = b, a, "b" if winner == "a" else "a"
            who = f"{name}{person}" if name else ""
            given.append(Preference(topic, a, b, winner, annotator=who, of=of))  # type: ignore[arg-type]
    judging.import_judgments(study, given, kind)


def both_questions() -> Study:
    """Ten annotators joined, of whom three never answered."""
    study = study_of(summary_share=0.5)
    people = [joined(study) for _person in range(10)]
    for number, person in enumerate(people[:7]):
        answered(person, 8, Random(number))
    judging.skip(drawn(people[7]), "unclear")
    drawn(people[8])
    return study


def two_systems() -> Study:
    study = study_of(*topics(systems=2), compares="summaries")
    votes(study, 6, 12, right=0.95)
    return study


def told_apart() -> Study:
    """Imported answers alone, about both; of summaries they tell the first system from some of the others."""
    study = study_of(*topics(6, systems=6))
    votes(study, 8, 40)
    votes(study, 5, 24, "sentences")
    return study


def leader() -> Study:
    """One system wins always, the others by a coin."""
    study = study_of(*topics(5, systems=4), compares="summaries")
    votes(study, 8, 60, right=0.97)
    return study


def open_order() -> Study:
    study = study_of(compares="summaries")
    votes(study, 6, 10, right=0.5)
    return study


def middle() -> Study:
    """The first places are open, the last is known."""
    study = study_of(*topics(4, systems=5), compares="summaries")
    chance, given = Random(5), []
    for person in range(7):
        for number in range(30):
            first, second = sorted(chance.sample(range(5), 2))
            is_first = chance.random() < (0.95 if second == 4 else 0.5)
            winner = "a" if is_first else "b"
            pair = f"system {first}a", f"system {second}a"
            given.append(Preference(f"T{number % 4}", *pair, winner, annotator=f"p{person}", of="summaries"))
    judging.import_judgments(study, given)
    return study


def one_shared_pair() -> Study:
    study = study_of()
    for person in ("ann", "bob"):
        judging.import_judgments(study, [Preference("T0", "d1:0", "d1:1", "a", annotator=person)])
    votes(study, 1, 3, "sentences", name="cem")
    return study


def one_sentence() -> Study:
    study = study_of(*topics(1, sentences=1, systems=1))
    joined(study)
    return study


def one_topic() -> Study:
    study = study_of(*topics(1))
    answered(joined(study), 6)
    answered(joined(study), 5)
    return study


def no_names() -> Study:
    """A file of answers without a word on whose they are, beside one person who judged here."""
    study = study_of()
    table = ["topic,a,b,winner,of", *(f"T{k % 3},d1:{k % 5},d1:5,a," for k in range(12))]
    table += [f"T{k % 3},system {k % 3}a,system 3a,b,summaries" for k in range(12)]
    making.store(study, "\n".join(table).encode(), "votes.csv")
    answered(joined(study), 4)
    return study


def only_no_names() -> Study:
    study = study_of(compares="sentences")
    table = ["topic,a,b,winner", *(f"T{k % 3},d1:{k % 5},d1:5,a" for k in range(30))]
    making.store(study, "\n".join(table).encode(), "votes.csv")
    return study


def machines(counted_kinds: str) -> Callable[[], Study]:
    def made() -> Study:
        study = study_of(counted_kinds=counted_kinds, summary_share=0.5)
        for _person in range(3):
            answered(joined(study), 6)
        answered(joined(study, kind="machine"), 10)
        votes(study, 2, 8, "sentences", kind="machine", name="model ")
        judge = joined(study, kind="machine")
        judging.describe(judge, Judge(model="big", prompt="Which?", temperature=0.5, made=("A",)), None)
        both = judging.Selection(both_orders=True)
        while not isinstance(pair := judging.draw_selected(judge, both), judging.NoPair):
            judging.record_judgment(pair, 1, "left", 2.0, confidence=0.5)
        return study

    return made


def simulated(counted_kinds: str) -> Callable[[], Study]:
    def made() -> Study:
        study = study_of(counted_kinds=counted_kinds)
        for _person in range(3):
            answered(joined(study), 5)
        votes(study, 6, 12, kind="simulated", name="simulated reader ")
        return study

    return made


def only_simulated() -> Study:
    study = study_of(compares="summaries", counted_kinds="people-and-simulated")
    joined(study)
    votes(study, 6, 12, kind="simulated", name="simulated reader ")
    return study


def closed() -> Study:
    study = study_of()
    answered(joined(study), 5)
    joined(study)
    studies.set_state(study, making.owner(study), "closed")
    return study


def excluded() -> Study:
    """Two were excluded, of whom one never answered."""
    study = study_of()
    people = [joined(study) for _person in range(4)]
    for person in people[:3]:
        answered(person, 7)
    for person in people[2:]:
        judging.exclude(person, making.owner(study), "careless")
    return study


def checked() -> Study:
    """Answers undone and skipped, practice, gold pairs, repeats, shared pairs, ties, and some people recruited."""
    study = study_of(
        compares="sentences",
        training=True,
        gold_share=0.2,
        repeat_share=0.2,
        shared_share=0.5,
        ties_allowed=True,
        judgments_per_pair=3,
        training_threshold=0.0,
    )
    prepare_pairs(study, "training", 2)
    prepare_pairs(study, "gold", 2)
    crowd.recruit(
        study, making.owner(study), platform="prolific", code_done="A", code_no_work="B", code_screened_out="C"
    )
    came = [crowd.enter(study, making.prolific(number), "s") for number in range(3)]  # the last answers nothing
    for number, person in enumerate([*came[:2], joined(study), joined(study)]):
        given = answered(person, 16, Random(number))
        judging.undo(given[-1])
        judging.skip(drawn(person), "unclear")
        judged(person, "tie")
    return study


def copies() -> Study:
    """Imported answers of which some compare a sentence with its copy; and two summaries of the same words."""
    records = topics(2)
    for own in records:
        own["documents"][0]["sentences"][3] = own["documents"][0]["sentences"][0]
    study = study_of(*records)
    table = [f"T{k % 2},d1:{k % 3},d1:{3 + k % 3},a,p{k % 3}," for k in range(24)]
    making.store(study, "\n".join(["topic,a,b,winner,annotator,of", *table]).encode(), "votes.csv")
    return study


def with_persons() -> Study:
    """Some summaries are by people, who are not ranked with systems."""
    records = topics(3, systems=5)
    for own in records:
        own["summaries"][1]["person"] = own["summaries"][4]["person"] = True
    study = study_of(*records)
    votes(study, 6, 30)
    return study


def nothing() -> Study:
    """A study to which no text has come."""
    return making.study(compares="both", title="Weather")


def own_questions() -> Study:
    """Topics with questions of their own, about sentences, and simulated answers beside people's."""
    records = topics(4)
    for own in records[:3]:
        own["question"] = f"What happened in town{own['topic_id'][1:]}?"
    study = study_of(*records, compares="sentences", counted_kinds="people-and-simulated", ties_allowed=True)
    answered(joined(study), 9)
    votes(study, 4, 12, "sentences", kind="simulated", name="simulated reader ")
    return study


def sixty_systems() -> Study:
    study = study_of(*topics(4, systems=60), compares="summaries")
    votes(study, 6, 120, right=0.9)
    return study


def many_topics() -> Study:
    study = study_of(*topics(300, sentences=2, systems=2))
    votes(study, 5, 40)
    votes(study, 3, 7, "sentences")
    return study


def demo_study() -> Study:
    """With fewer simulated answers than the demo has."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "SIMULATED", 200)
        demo.make_demo_study(lambda _line: None)
    return Study.objects.get(title=demo.TITLE)


def rated_study() -> Study:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo, "SIMULATED_OF_STORIES", 60)
        demo.make_rated_study(lambda _line: None)
    return Study.objects.get(title=demo.RATED_TITLE)


STUDIES: dict[str, Callable[[], Study]] = {
    "both questions, three of ten never answered": both_questions,
    "two systems": two_systems,
    "some told apart, imported answers only": told_apart,
    "a leader": leader,
    "nothing told apart": open_order,
    "the last place known": middle,
    "one shared pair": one_shared_pair,
    "one sentence": one_sentence,
    "one topic": one_topic,
    "no annotators named in a file": no_names,
    "nobody named": only_no_names,
    "machines beside people": machines("people"),
    "machines counted": machines("people-and-machines"),
    "machines counted alone": machines("machines"),
    "simulated beside people": simulated("people"),
    "simulated counted": simulated("people-and-simulated"),
    "simulated alone": only_simulated,
    "closed": closed,
    "excluded annotators": excluded,
    "practice, gold, repeats, undone, skipped, recruited": checked,
    "copies": copies,
    "summaries by people": with_persons,
    "nothing": nothing,
    "questions of topics": own_questions,
    "60 systems": sixty_systems,
    "300 topics": many_topics,
    "demo of news": demo_study,
    "demo of stories": rated_study,
}


@dataclass(frozen=True)
class Told:
    """What a study says in every place, and its archive. `boards`, `api`: by way of scoring."""

    archive: Recount
    recruited: frozenset[str]
    record: Row
    overview: str
    studies: str
    forecast: str
    boards: dict[str, str]
    api: dict[str, Row]
    methods: str
    datasheet: str

    @property
    def pages(self) -> dict[str, str]:
        """The words of all of them."""
        boards = {f"board by {way}": text_of(page) for way, page in self.boards.items()}
        own = {name: text_of(getattr(self, name)) for name in ("overview", "studies", "forecast")}
        return own | boards | {name: " ".join(getattr(self, name).split()) for name in ("methods", "datasheet")}

    def of(self, way: str) -> str:
        """The question that a way of scoring answers."""
        return "summaries" if way == "win-rate" else "sentences"


def look(study: Study) -> Told:
    """Let the worker work, and read every page."""
    assert tasks.catch_up(study.pk) == {}
    tasks.report_annotators(study.pk)
    study, file = Study.objects.get(pk=study.pk), io.BytesIO()
    study_archive.write(exports.make_archive(study), file)
    client, facts = signed_in(study), study_facts.of_study(study)
    ways = [way for way, _name in leaderboard.ways_of_scoring(study)]
    board, api = reverse("leaderboard", args=[study.pk]), reverse("api_leaderboard", args=[study.pk])
    program_of_owner = program(making.owner(study))
    came = Participation.objects.filter(study=study).values_list("annotator__pseudonym", flat=True)
    return Told(
        archive=Recount(file.getvalue()),
        recruited=frozenset(came),
        record=to_json(statement.of_study(study)),
        overview=page_of(client, reverse("study", args=[study.pk])),
        studies=page_of(client, reverse("studies")),
        forecast=page_of(client, address(study, "forecast")),
        boards={way: client.get(board, {"scored_by": way}, follow=True).content.decode() for way in ways},
        api={way: program_of_owner.get(api, {"scored_by": way}).json() for way in ways},
        methods=methods_section.plain(facts),
        datasheet=methods_section.datasheet(facts),
    )


@pytest.fixture(scope="module", params=STUDIES.values(), ids=list(STUDIES))
def told(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Told:
    """What each study says; its rows are gone before the first test reads it."""
    chance = Random(request.node.name)
    with pytest.MonkeyPatch.context() as patch, django_db_blocker.unblock(), undone():
        for module in (checks, choosing, drawing):
            patch.setattr(module, "chance", chance)
        with override_settings(MEDIA_ROOT=tmp_path_factory.mktemp("files")):
            return look(request.param())


# Counts


def test_the_record_counts_what_the_files_have(told: Told) -> None:
    recounted = {of: told.archive.answers(of, told.recruited) for of in ("", "sentences", "summaries")}
    assert told.record["answers"] == recounted[""]
    for of in ("sentences", "summaries"):
        own = told.record[of]
        kept = recounted[of]["rests_on"]
        assert (own is None) == (not any((*kept["counted"].values(), *kept["not_counted"].values())))
        if own:
            assert own["answers"] == recounted[of]
            assert own["systems"] == len(told.archive.ranked(own["scored_by"]))


def test_every_page_says_the_same_of_who_judged(told: Told) -> None:
    words, any_counts = told.archive.words(), bool(told.archive.rows())
    for name in ("methods", "datasheet", *(["overview"] if any_counts else [])):
        assert words in told.pages[name], name
    assert f"**3.2.1 How many evaluators are there?** {words}" in told.pages["datasheet"]
    for way, page in told.boards.items():
        if told.archive.rows(told.of(way)) and told.api[way]["systems"]:
            (basis,) = paragraphs(page, "basis")
            assert basis.startswith(told.archive.words(told.of(way))), way


def test_what_is_kept_and_not_counted_is_said_and_counted(told: Told) -> None:
    def said(of: str = "") -> str:
        kept = told.archive.answers(of)["rests_on"]["not_counted"]
        return kinds_words(kept) if any(kept.values()) else ""

    if told.archive.rows():
        beyond = re.findall("Further judgments were kept and not counted: (.+?)\\.", told.pages["methods"])
        assert beyond == ([said()] if said() else [])
    for name, of in (("overview", ""), *((f"board by {way}", told.of(way)) for way in told.boards)):
        assert set(re.findall(r"\(not counted: (.+?)\)(?= |$)", told.pages[name])) <= {said(of)}, name
    copied = re.findall(
        r"\(([\d,]+) imported judgments? compares? a sentence with its own copy", told.pages["overview"]
    )
    assert copied == ([str(len(told.archive.copies()))] if told.archive.copies() else [])
    for row in told.archive.copies():
        assert len({told.archive.texts[row["topic"], row[side]] for side in ("left", "right")}) == 1


def test_no_page_counts_people_who_never_answered(told: Told) -> None:
    for name, words in told.pages.items():
        excluded = re.findall(r"(\d+) annotators? (?:was|were) excluded", words)
        assert set(excluded) <= {str(told.archive.excluded())}, name
        # Whose summaries are compared, too, judged nothing.
        others = re.sub(r"\d+ annotators? (?:was|were) excluded|systems? and \d+ (?:person|people)", "", words)
        # The forecast says how many it would take, and what more would bring.
        others = re.sub(r"takes \d+ answers by \d+ annotators|by \d+ annotators in all", "", others)
        assert set(people_named(others)) <= told.archive.who(), name


def test_the_forecast_starts_from_the_answers_that_there_are(told: Told) -> None:
    words = re.sub(r"takes \d+ answers by \d+ annotators", "", told.pages["forecast"])
    found = re.findall(r"([\d,]+) (?:simulated )?answers? by (\d+) annotators?\b(?! in all)", words)
    expected = set()
    for of in ("summaries", "sentences"):
        named, all_named = told.archive.named(of)
        judged = told.archive.judged(told.archive.rows(of))
        if {kind for kind in judged if judged[kind]} - {"imported"} not in ({"human"}, {"simulated"}, set()):
            assert f"({kinds_words(judged | {'imported': 0})})" in words, "of whom the answers are"
        expected |= {(f"{len(told.archive.rows(of)):,}", str(named))} if all_named else set()
    assert set(found) <= expected


def test_what_annotators_saw_is_said_of_those_who_judged_here(told: Told) -> None:
    methods, datasheet, here = told.pages["methods"], told.pages["datasheet"], told.archive.here()
    for of in ("sentences", "summaries"):
        given, counted = len(told.archive.here(of)), len(told.archive.rows(of))
        assert (f"Annotators saw two {of} of a topic" in methods) == (0 < given == counted)
        assert (f"People who judged here saw two {of} of a topic" in methods) == (0 < given < counted)
        is_open = told.archive.settings["compares"] in ("both", of) and not counted and bool(told.archive.rows())
        assert (f"two {of} of a topic has no answer that counts" in methods) == is_open
    imported = any(row["kind"] == "human" and row["reason_shown"] == "imported" for row in told.archive.rows())
    assert ("collected elsewhere [say how]" in methods) == imported
    assert ("Imported judgments: [to be answered by you]" in datasheet) == imported
    may_be_equal = bool(told.archive.settings.get("ties_allowed") or told.archive.settings.get("neither_allowed"))
    assert ("One of the two must be chosen." in methods) == (bool(here) and not may_be_equal)
    assert ("is an answer, too" in methods) == (bool(here) and may_be_equal)
    for said in ("On web pages of Preferendum.", "A web page (", "The question, and how to answer.", "values."):
        assert (said in datasheet) == bool(here), said
    checks = told.archive.checks() if here else set()
    assert ("practice pair" in methods) == ("training" in checks)
    assert ("Gold pairs" in methods) == ("Hidden gold pairs" in datasheet) == ("gold" in checks)
    assert ("Repeated pairs" in datasheet) == ("repeat" in checks)


def test_recruited_are_those_who_came_from_a_platform_and_answered(told: Told) -> None:
    own = told.archive.answers("", told.recruited)
    said = f"{own['recruited']} of {own['human']} people were recruited on Prolific."
    said = "All people were recruited on Prolific." if own["recruited"] == own["human"] else said
    for name in ("methods", "datasheet"):
        assert ("recruited on" in told.pages[name]) == bool(own["recruited"])
        assert (said in told.pages[name]) == bool(own["recruited"])


def test_days_and_drawing_are_those_of_answers_given_here(told: Told) -> None:
    own, words = told.archive.answers(), told.pages["methods"]
    one = f"given on {own['first']}." if own["first"] == own["last"] else ""
    days = one or f"given from {own['first']} to {own['last']}."
    assert (days in words) == bool(own["first"])
    is_all = not any(row["reason_shown"] == "imported" for row in told.archive.rows())
    assert (f"The judgments were {days}" in words) == (bool(own["first"]) and is_all)
    planned = re.findall(r"(\d+) judgments? (?:is|are) about (?:a pair|pairs) of summaries chosen before", words)
    assert planned == ([str(own["planned"])] if own["planned"] else [])
    adaptive = re.findall(r"(\d+) are about pairs drawn at random, (\d+) about pairs chosen adaptively", words)
    assert adaptive == ([(str(own["random"]), str(own["telling"]))] if own["telling"] else [])
    assert "All pairs were drawn at random." not in words or own["random"] == len(told.archive.rows())


def test_the_material_is_counted_once(told: Told) -> None:
    own, persons = told.archive.material(), len(told.archive.persons())
    numbers = re.search(
        r"The material has ([\d,]+) topics?(?: with ([\d,]+) documents? and ([\d,]+) sentences?, and ([\d,]+) "
        r"summar(?:y|ies) by (\d+) systems?(?: and (\d+) (?:person|people))?)?\.",
        told.pages["methods"],
    )
    assert numbers
    found = [int((number or "0").replace(",", "")) for number in numbers.groups()[:4]]
    assert found == [own[name] for name in ("topics", "documents", "sentences", "summaries")]
    assert (int(numbers[5] or 0), int(numbers[6] or 0)) == (own["systems"] - persons, persons)
    facts = dict(re.findall(r"<dt>(\w+)</dt><dd>([\d,]+)</dd>", told.overview))
    assert {name.lower(): int(number.replace(",", "")) for name, number in facts.items()} == (
        own if own["topics"] else {}
    )
    outputs = re.search(
        r"(\d+) summar(?:y|ies)(?: by (\d+) systems?(?: and (\d+) (?:person|people))?)? on (\d+) topics?\.",
        told.pages["datasheet"],
    )
    assert outputs
    expected = own["summaries"], own["systems"] - persons, persons, own["topics"]
    assert tuple(int(number or 0) for number in outputs.groups()) == expected
    of_topics = [topic["question"] for topic in told.archive.topics if topic.get("question")]
    quoted = re.findall(r"(\d+) of (\d+) topics? (?:has|have) a question of (?:its|their) own", told.pages["methods"])
    assert quoted == ([(str(len(of_topics)), str(own["topics"]))] if of_topics else [])
    assert re.findall(r"(\d+) topics? ·", told.pages["studies"]) == [str(own["topics"])]
    practice = str(sum(pair["use"] == "training" for pair in told.archive.gold_pairs))
    assert set(re.findall(r"Everybody began with (\d+) practice", told.pages["methods"])) <= {practice}


def test_progress_is_the_same_on_every_page(told: Told) -> None:
    wanted, leading = told.archive.wanted(), told.archive.leading()
    asked, done = sum(wanted.values()), sum(min(leading[key], number) for key, number in wanted.items())
    shown = [(f"{done:,}", f"{asked:,}")] if asked else []
    assert re.findall(r"([\d,]+) of ([\d,]+) requested(?! judgments)", told.pages["overview"]) == shown
    assert re.findall(r"([\d,]+) of ([\d,]+) requested judgments", told.pages["studies"]) == shown
    bars = re.findall(r'<progress value="(\d+)" max="(\d+)"', told.overview)
    assert bars[:1] == ([(str(done), str(asked))] if asked else [])
    here = [row for row in told.archive.answered if row["kind"] != "simulated" and row["reason_shown"] != "imported"]
    if any(row["holds_place"] for row in here):
        assert "nobody has judged here yet" not in told.pages["studies"]


def test_topics_without_judgments_are_counted_and_named(told: Told) -> None:
    for way in told.boards:
        of, words = told.of(way), told.pages[f"board by {way}"]
        judged = {row["topic"] for row in told.archive.rows(of)}
        assert told.api[way]["judgments"] == len(told.archive.rows(of))
        found = re.search(r"(\d+) of (\d+) topics? (?:has|have) no judgments: (.+?)\.", words)
        if found:
            asked = told.archive.asked(of)
            assert (int(found[1]), int(found[2])) == (len(asked - judged), len(asked))
            assert set(re.findall(r"T\d+", found[3])) <= asked - judged
        elif judged:
            assert judged == told.archive.asked(of)


def test_the_api_has_what_the_board_has(told: Told) -> None:
    for way, board in told.api.items():
        of = told.of(way)
        rests_on = told.archive.answers(of)["rests_on"]
        assert {name: board["rests_on"][name] for name in rests_on} == rests_on
        if board["statement"]:
            assert board["statement"] == told.record[of]
        systems = [row["system"] for row in board["systems"]]
        assert set(systems) == told.archive.ranked(way)
        assert len(systems) == len(set(systems))
        scores = [row["score"] for row in board["systems"]]
        assert all(first >= second - 1e-12 for first, second in pairwise(scores))


# What is concluded


def _apart(board: Row) -> set[tuple[str, str]]:
    """Every two ranked systems that the board's own tests tell apart, the better one first."""
    names = {row["system"] for row in board["systems"]}
    return {
        (own["better"], own["worse"])
        for own in board["differences"]
        if own["significant"] and {own["better"], own["worse"]} <= names
    }


def _tests(board: Row) -> int:
    names = {row["system"] for row in board["systems"]}
    return sum(
        own["significant"] is not None and {own["better"], own["worse"]} <= names for own in board["differences"]
    )


def test_every_two_systems_are_compared_once(told: Told) -> None:
    for board in told.api.values():
        pairs = [frozenset((own["better"], own["worse"])) for own in board["differences"]]
        assert len(pairs) == len(set(pairs))
        for own in board["differences"]:
            if own["significant"]:
                assert own["p"] <= 0.05
                assert own["difference"] > 0
                assert own["low"] > 0, "its own interval leaves out no difference"


def test_the_forecast_starts_from_the_differences_of_ranked_systems(told: Told) -> None:
    """Those to people's summaries are wider, or narrower, and no question of a study about systems."""
    for way, board in told.api.items():
        names = {row["system"] for row in board["systems"]}
        halves = [
            (own["high"] - own["low"]) / 2
            for own in board["differences"]
            if own["low"] is not None and {own["better"], own["worse"]} <= names
        ]
        if way != "published" and (record := told.record[told.of(way)]):
            assert record["halfwidth"] == (pytest.approx(median(halves)) if halves else None), way


def test_headlines_say_what_the_tests_say(told: Told) -> None:
    shown = 0
    for way, board in told.api.items():
        names, apart, tests = [row["system"] for row in board["systems"]], _apart(board), _tests(board)
        answers = paragraphs(told.boards[way], "answer")
        record = told.record[told.of(way)]
        assert [board["headline"]] == (answers or [""])
        if not answers:
            assert not apart or way == "published" or not board["judgments"]
            continue
        shown += 1
        claims = claims_of(answers[0], names)
        if claims.early:
            is_few = len(told.archive.rows(told.of(way))) < 20
            assert is_few or ("three annotators" in claims.early and told.archive.effective(told.of(way)) < 2.5)
            assert not tests
            continue
        assert len(told.archive.rows(told.of(way))) >= 20
        assert tests == len(names) * (len(names) - 1) // 2
        assert claims.better <= apart
        assert claims.apart in (None, len(apart))
        assert claims.tests in (None, tests)
        assert not claims.first or claims.first == names[0]
        beaten = {worse for better, worse in apart if better == claims.first}
        alike = {name for name in names if name != claims.first} - beaten
        if isinstance(claims.alike, int):
            assert claims.alike == len(alike)
        elif claims.alike is not None:
            assert claims.alike == alike
        assert record["headline"]["apart"] == len(apart)
        assert record["headline"]["tests"] == tests
    assert shown or not any(board["differences"] for way, board in told.api.items() if way != "published")


def test_the_methods_hold_for_whom_the_boards_hold(told: Told) -> None:
    """Of each question apart, where they differ: one may be too early while the other is told apart."""
    grounds = {}
    for of in ("sentences", "summaries"):
        record = told.record[of]
        if record and told.archive.rows(of):
            grounds[of] = own = record["ground"]
            assert told.api[record["scored_by"]]["ground"] == own
            named, all_named = told.archive.named(of)
            assert own["annotators"] == (named if all_named else 0)
            assert own["effective"] == pytest.approx(told.archive.effective(of) if all_named else 0, rel=1e-6)
    early = {of for of, own in grounds.items() if own["is_early"]}
    words, names = told.pages["methods"], {"sentences": "Sentences", "summaries": "Whole summaries"}
    assert ("too early to tell systems apart" in words) == bool(early)
    if early and early != set(grounds):
        assert [of for of in grounds if f"{names[of]}: It is too early" in words] == list(early)


def test_the_methods_estimate_and_rank_what_has_judgments(told: Told) -> None:
    """Of each question with judgments that count; intervals and tests where its board has two systems and these."""
    compares, words = told.archive.settings["compares"], told.pages["methods"]
    judged = [of for of in ("sentences", "summaries") if told.archive.rows(of)]
    planned = ["sentences", "summaries"] if compares == "both" else [compares]
    opening = words.split(". ")[0]
    for of, text in (("sentences", "source sentences"), ("summaries", "whole summaries")):
        assert (text in opening) == (of in (judged or planned))
    assert opening.startswith("Summaries are to be") == (not judged)
    simulated = told.archive.judged(told.archive.rows())["simulated"]
    assert ("simulated pairwise" in opening) == (0 < simulated == len(told.archive.rows()))
    expected = {}
    for of in judged:
        board = told.api[told.record[of]["scored_by"]]
        if len(board["systems"]) > 1:
            has_intervals = any(own["low"] is not None for own in board["differences"])
            expected[of] = has_intervals, _tests(board) > 0
    for name in ("methods", "datasheet"):
        said, ranked = told.pages[name], {}
        assert ("estimated utilities of the sentences" in said) == ("sentences" in judged), name
        assert ("under a Bradley–Terry model" in said) == ("summaries" in judged), name
        form = r"Systems are ranked by (.+?)(, with 95% intervals)?(; differences [^.]+ tested two-sided [^.]+)?\. "
        for by, intervals, tests in re.findall(form, said):
            for of, way in (("summaries", "win rate"), ("sentences", "mean")):
                if way in by:
                    ranked[of] = bool(intervals), bool(tests)
        assert ranked == expected, name
    is_tested = any(tested for _intervals, tested in expected.values())
    assert ("Two-sided tests of differences" in told.pages["datasheet"]) == is_tested
    assert ("No two systems are tested." in told.pages["datasheet"]) == (not is_tested)


def test_overview_list_and_board_have_one_headline(told: Told) -> None:
    of_board = {way: paragraphs(page, "answer") for way, page in told.boards.items()}
    for name in ("overview", "studies"):
        for line in paragraphs(getattr(told, name), "answer"):
            said = re.sub(r"^(Whole summaries|Sentences): ", "", line)
            # The kinds that the answers are of stand behind it in a badge, where they are not people's alone.
            assert any(said.startswith(own[0].split(". ")[0]) for own in of_board.values() if own), line
    lines = [paragraphs(getattr(told, name), "answer") for name in ("overview", "studies")]
    assert lines[0] == lines[1]
    assert len(lines[0]) == sum(
        bool(own) for way, own in of_board.items() if told.record[told.of(way)] and way != "published"
    )


def test_whoever_leads_has_won_no_less_often_in_the_files(told: Told) -> None:
    """Of answers about summaries: the better of two has no fewer direct wins than two standard errors of a coin below
    one half, one by one three; tests allow for topics and annotators, and borrow from other pairs."""
    if "win-rate" not in told.api:
        return
    apart = _apart(told.api["win-rate"])
    for better in {first for first, _second in apart}:
        assert has_no_fewer_wins(*told.archive.wins(better, {worse for own, worse in apart if own == better}))


def test_brackets_join_those_that_are_not_told_apart_and_no_others(told: Told) -> None:
    for way, page in told.boards.items():
        drawn_in, board = brackets_of(page), told.api[way]
        names, apart = [row["system"] for row in board["systems"]], {frozenset(own) for own in _apart(board)}
        if not drawn_in:
            assert not _tests(board) or len(names) > 20 or len(apart) == _tests(board) or len(names) > 6
            continue
        assert list(drawn_in) == names
        for one, other in combinations(names, 2):
            assert bool(drawn_in[one] & drawn_in[other]) == (frozenset((one, other)) not in apart), (one, other)
        joined_with = {one: [own for own in names if own != one and {one, own} not in apart] for one in names}
        assert alike_said(page) == {one: ", ".join(own) or "none" for one, own in joined_with.items()}


def test_possible_ranks_follow_from_the_tests(told: Told) -> None:
    for board in told.api.values():
        names, apart = [row["system"] for row in board["systems"]], _apart(board)
        if not _tests(board):
            continue
        for row in board["systems"]:
            better = sum(worse == row["system"] for _better, worse in apart)
            worse = sum(own == row["system"] for own, _worse in apart)
            assert row["rank_low"] == min(row["rank"], 1 + better)
            assert row["rank_high"] == max(row["rank"], len(names) - worse)
            assert set(row["better_than"]) >= {own for first, own in apart if first == row["system"]}


# What may not be said


def test_agreement_is_of_shared_pairs_and_needs_ten_of_them(told: Told) -> None:
    questions = sorted({row["of"] for row in told.archive.rows(kinds=told.archive.kinds[:1])})
    of = questions if len(questions) == 2 else [""]
    shared = {question: len(told.archive.shared(question)) for question in of}
    for name in ("methods", "datasheet"):
        words = told.pages[name]
        few = re.findall(r"(\d+) pairs? ha(?:s|ve) two answers", words)
        assert few == [str(n) for n in shared.values() if 0 < n < 10], name
        assert re.findall(r"from (\d+) pairs; 1 is perfect", words) == [str(n) for n in shared.values() if n >= 10], (
            name
        )
        said = re.findall(r"agree in ([\d.]+) ?% (?:\[.+?\] )?of (\d+) comparisons", words)
        expected = [told.archive.agreeing(question) for question, n in shared.items() if n >= 10]
        assert [int(n) for _percent, n in said] == [n for n, _percent in expected]
        for (percent, _n), (_number, own) in zip(said, expected, strict=True):
            assert abs(float(percent) - own) <= 0.5
        if not any(n >= 10 for n in shared.values()):
            assert not re.search("alpha|kappa|Krippendorff", words), name


def test_no_interval_has_a_width_of_zero(told: Told) -> None:
    for name, words in told.pages.items():
        assert [ends for ends in widths(words) if ends[0] == ends[1]] == [], name
    for board in told.api.values():
        for own in (*board["systems"], *board["differences"]):
            assert own["low"] is None or own["low"] < own["high"], own


def test_a_study_without_people_does_not_speak_of_their_answers(told: Told) -> None:
    counted = told.archive.judged(told.archive.rows())
    for name in ("methods", "datasheet"):
        is_by_others = any(counted.values()) and not counted["human"]
        assert ("No judgment by a person counts." in told.pages[name]) == is_by_others
    for words in told.pages.values():
        if not any(row["kind"] == "simulated" for row in told.archive.answered):
            assert not re.search(r"\d simulated", words)
