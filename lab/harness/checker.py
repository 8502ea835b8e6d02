"""The invariants I1-I13 over the rows and the journal of one trial, after everything has come to rest.

Each says in words what it found broken, or nothing. What the rows must be is worked out here anew from judgments and
assignments; of the product only its own fit from scratch is asked for, to be compared with what it has published.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from lab.harness import fitter
from lab.harness.clients import CANARY
from lab.harness.exported import exports
from lab.harness.seen import Seen
from lab.harness.tables import Row

PRIOR = 0.5  # as in inside.py
SAME_PROGRAM, OTHER_PROGRAM = 1e-9, 1e-6


def acknowledged(seen: Seen) -> Iterator[str]:
    """I1: what was confirmed is stored once, as it was sent first."""
    for entry in seen.journal.of("acked"):
        rows = seen.by_key.get((entry["key"], entry["revision"]), [])
        name = f"answer {entry['key'][:8]}.{entry['revision']}"
        if len(rows) != 1:
            yield f"{name} was confirmed and is stored {len(rows)} times"
        elif entry["said"].startswith("Saved") and rows[0]["answer"] != entry["answer"]:
            yield f"{name} was confirmed as {entry['answer']} and is stored as {rows[0]['answer']}"


def sent(seen: Seen) -> Iterator[str]:
    """I2: nothing is stored that nobody sent; nothing of a request that was refused."""
    answers: dict[tuple[str, int], set[str]] = {}
    for entry in seen.journal.of("sent"):
        answers.setdefault((entry["key"], entry["revision"]), set()).add(entry["answer"])
    undone = Counter(entry["key"] for entry in seen.journal.of("undo"))
    refused = {(entry["key"], entry["revision"]) for entry in seen.journal.of("refused")}
    accepted = {(entry["key"], entry["revision"]) for entry in seen.journal.of("acked")}
    for (key, revision), rows in seen.by_key.items():
        for row in rows:
            if row["answer"] == "undone":
                undone[key] -= 1
                if undone[key] < 0:
                    yield f"{key[:8]}.{revision} was taken back and nobody asked for it"
            elif row["answer"] not in answers.get((key, revision), set()):
                yield f"{key[:8]}.{revision} is stored as {row['answer']} and was never sent so"
        if (key, revision) in refused - accepted:
            yield f"{key[:8]}.{revision} was refused and is stored"


def one_current(seen: Seen) -> Iterator[str]:
    """I3: at most one judgment of a pair by an annotator is current."""
    current = Counter(
        (seen.assignments[row["assignment_id"]]["pair_id"], seen.assignments[row["assignment_id"]]["annotator_id"])
        for row in seen.judgments
        if seen.fate(row) in ("counted", "surplus", "excluded")
    )
    if not seen.expected.several_occasions:
        for (pair, annotator), times in current.items():
            if times > 1:
                yield f"annotator {annotator} has {times} current judgments of pair {pair}"
    for (key, revision), rows in seen.by_key.items():
        if len(rows) > 1:
            yield f"{key[:8]}.{revision} is stored {len(rows)} times"


def places(seen: Seen) -> Iterator[str]:
    """I4: never more judgments and leases than are wanted; every judgment has one fate."""
    taken: Counter[int] = Counter()
    by_topic: Counter[int] = Counter()
    for row in seen.assignments.values():
        annotator = seen.annotators[row["annotator_id"]]
        if annotator["kind"] != "human":
            continue  # these take no place from people
        if annotator["excluded_at"] is not None and row["state"] == "judged":
            continue  # its place is free, and theirs again should they be taken back in
        if row["holds_place"] and row["state"] in ("open", "judged"):
            taken[row["pair_id"]] += 1
            by_topic[row["item_set_id"]] += 1
        elif row["holds_place"]:
            yield f"assignment {row['id']} is {row['state']} and holds a place"
    for pair, row in seen.pairs.items():
        if taken[pair] != row["taken"]:
            yield f"pair {pair} says that {row['taken']} places are taken, and {taken[pair]} are"
        if taken[pair] > row["need"]:
            yield f"pair {pair} needs {row['need']} judgments and has {taken[pair]} counted or out"
        if taken[pair] > seen.settings["judgments_per_pair"] and not seen.expected.lowered:
            yield f"pair {pair} has {taken[pair]} counted or out, {seen.settings['judgments_per_pair']} are wanted"
    for topic, row in seen.topics.items():
        if by_topic[topic] != row["taken"]:
            yield f"topic {topic} says that {row['taken']} places are taken, and {by_topic[topic]} are"
        if by_topic[topic] > seen.wanted(topic) and not seen.expected.lowered:
            yield f"topic {topic} has {by_topic[topic]}, {seen.wanted(topic)} are wanted"
    for row in seen.assignments.values():
        own = [judgment["revision"] for judgment in seen.judgments if judgment["assignment_id"] == row["id"]]
        if row["revision"] != max(own, default=0) or sorted(own) != list(range(1, len(own) + 1)):
            yield f"assignment {row['id']} is at revision {row['revision']} and has {own}"
        answered = bool(own) and seen.last[row["id"]]["answer"] != "undone"
        if (row["state"] == "judged") != answered:
            yield f"assignment {row['id']} is {row['state']}, and its last revision says otherwise"


def complete(seen: Seen) -> Iterator[str]:
    """I5: all that is wanted is judged in the end, and nobody was told that they are done while it was not."""
    if seen.expected.complete:
        for topic, rows in seen.counted.items():
            wanted = seen.wanted(topic)
            if len(rows) < wanted or (len(rows) > wanted and not seen.expected.lowered):
                yield f"topic {topic} has {len(rows)} judgments, {wanted} are wanted"
    for entry in seen.journal.of("told"):
        if entry["nothing"] not in ("no_work", "done", "paused", "closed", "excluded"):
            yield f"a client was told {entry['nothing']!r}"
    if any(entry["nothing"] == "done" for entry in seen.journal.of("told")):
        most = max((row["judged"] for row in seen.annotators.values()), default=0)
        if most < seen.settings["pairs_per_annotator"]:
            yield f"somebody was told to be done, and nobody has judged more than {most}"
    for entry in seen.journal.of("lost"):
        yield f"the answer {entry['key'][:8]}.{entry['revision']} met {entry['status']}: its pair was not there"
    for entry in seen.journal.of("broke"):
        yield f"client {entry['client']} broke: {entry['why']}"
    unsent = {(e["key"], e["revision"]) for e in seen.journal.of("sent")} - {
        (e["key"], e["revision"]) for kind in ("acked", "refused", "lost") for e in seen.journal.of(kind)
    }
    if len(unsent) > seen.expected.unsent:
        yield f"{len(unsent)} answers were never confirmed nor refused"


def fitted(seen: Seen) -> Iterator[str]:
    """I6: what is published is what the judgments come to: by the product from scratch, and by another program."""
    if not seen.expected.fitted:
        return
    for topic, row in seen.topics.items():
        if row["problem"]:
            yield f"topic {topic} has a problem: {row['problem']}"
        if row["fitted_version"] != row["data_version"]:
            yield f"topic {topic} is at version {row['data_version']} and fitted at {row['fitted_version']}"
        if seen.counted[topic]:
            yield from _fit_of(seen, topic)
    yield from _rankings(seen)


def _fit_of(seen: Seen, topic: int) -> Iterator[str]:
    again = seen.from_scratch(topic)
    for scored_by, wanted in again.items():
        fits = seen.tables.rows(
            "SELECT * FROM annotate_fit WHERE item_set_id = ? AND scored_by = ? ORDER BY data_version", topic, scored_by
        )
        newest = fits[-1] if fits else None
        if newest is None or newest["data_version"] != seen.topics[topic]["data_version"]:
            yield f"topic {topic} has no fit of its version, {scored_by}"
            return
        if newest["judgments"] != len(seen.counted[topic]):
            yield f"topic {topic}: the fit rests on {newest['judgments']} judgments of {len(seen.counted[topic])}"
        stored = {row["sentence_id"]: row["utility"] for row in _utilities(seen, topic, scored_by)}
        scores = {row["summary_id"]: row["score"] for row in _scores(seen, topic, scored_by)}
        for key, value in wanted["utilities"].items():
            if abs(stored.get(int(key), np.inf) - value) > SAME_PROGRAM:
                yield f"sentence {key}: {stored.get(int(key))} is published, from scratch it is {value}"
        for key, value in wanted["scores"].items():
            if abs(scores.get(int(key), np.inf) - value) > SAME_PROGRAM:
                yield f"summary {key}: its published score is {scores.get(int(key))}, from scratch it is {value}"
    if not seen.topics[topic]["of_summaries"]:
        yield from _by_another_program(seen, topic)


def _by_another_program(seen: Seen, topic: int) -> Iterator[str]:
    sentences = seen.tables.rows("SELECT * FROM annotate_item WHERE item_set_id = ? ORDER BY position", topic)
    stored = {row["sentence_id"]: row for row in _utilities(seen, topic, "recommended")}
    index = {row["id"]: k for k, row in enumerate(sentences)}
    if stored.keys() != index.keys():
        yield f"topic {topic}: {len(stored)} sentences of {len(index)} have a utility"
        return
    theta = fitter.utilities(len(sentences), list(_wins(seen, topic, index)), PRIOR)
    for key, k in index.items():
        if abs(stored[key]["utility"] - theta[k]) > OTHER_PROGRAM:
            yield f"sentence {key}: {stored[key]['utility']} is published, another program finds {theta[k]}"
    texts, values = [row["text"] for row in sentences], [stored[row["id"]]["value"] for row in sentences]
    for row in _scores(seen, topic, "recommended"):
        own = json.loads(row["sentences"]) if isinstance(row["sentences"], str) else row["sentences"]
        value = fitter.importance(texts, own, values)
        if abs(row["score"] - value) > OTHER_PROGRAM:
            yield f"summary {row['summary_id']}: {row['score']} is published, another program finds {value}"


def _utilities(seen: Seen, topic: int, scored_by: str) -> list[Row]:
    return seen.tables.rows(
        "SELECT u.* FROM annotate_utility u JOIN annotate_item s ON s.id = u.sentence_id "
        "WHERE s.item_set_id = ? AND u.scored_by = ?",
        topic,
        scored_by,
    )


def _scores(seen: Seen, topic: int, scored_by: str) -> list[Row]:
    return seen.tables.rows(
        "SELECT c.summary_id, c.score, s.sentences, s.system_id FROM annotate_score c "
        "JOIN annotate_summary s ON s.id = c.summary_id JOIN annotate_fit f ON f.id = c.fit_id "
        "WHERE f.item_set_id = ? AND c.scored_by = ?",
        topic,
        scored_by,
    )


def _wins(seen: Seen, topic: int, index: dict[int, int]) -> Iterator[tuple[int, int, float]]:
    for row in seen.counted[topic]:
        assignment = seen.assignments[row["assignment_id"]]
        pair = seen.pairs[assignment["pair_id"]]
        first, second = index[pair["first_id"]], index[pair["second_id"]]
        left, right = (second, first) if assignment["swapped"] else (first, second)
        if row["answer"] == "tie":
            yield left, right, 0.5
            yield right, left, 0.5
        else:
            yield (left, right, 1.0) if row["answer"] == "left" else (right, left, 1.0)


def _rankings(seen: Seen) -> Iterator[str]:
    for scored_by in ("recommended", "published"):
        yield from _ranking(seen, scored_by)


def _ranking(seen: Seen, scored_by: str) -> Iterator[str]:
    """The leaderboard is the mean of the topics' scores, in its order; topics without summaries say nothing there."""
    scores = {topic: _scores(seen, topic, scored_by) for topic, rows in seen.counted.items() if rows}
    earned: dict[int, list[float]] = {}
    for rows in scores.values():
        for row in rows:
            earned.setdefault(row["system_id"], []).append(row["score"])
    if not earned:
        return
    means = {system: sum(scores) / len(scores) for system, scores in earned.items()}
    standings = seen.tables.rows(
        "SELECT s.*, r.version, r.judgments FROM annotate_systemscore s "
        "JOIN annotate_ranking r ON r.id = s.ranking_id WHERE r.study_id = ? AND r.scored_by = ?",
        seen.study,
        scored_by,
    )
    if {row["system_id"] for row in standings} != set(means):
        yield f"the leaderboard has {len(standings)} systems of {len(means)}"
        return
    for row in standings:
        system, mean = row["system_id"], means[row["system_id"]]
        if abs(row["score"] - mean) > SAME_PROGRAM:
            yield f"system {system}: {row['score']} on the leaderboard, {mean} by its topics"
        if row["rank"] != 1 + sum(other > mean + 1e-12 for other in means.values()):
            yield f"system {system} has rank {row['rank']}, which its score is not for"
    if standings[0]["judgments"] != sum(len(seen.counted[topic]) for topic, rows in scores.items() if rows):
        yield f"the leaderboard rests on {standings[0]['judgments']} judgments"


def never_back(seen: Seen) -> Iterator[str]:
    """I7: versions never decrease in the eyes of whoever looks."""
    newest: dict[int, tuple[int, int]] = {}
    for topic, data, done in seen.observed:
        before = newest.get(topic, (0, 0))
        if data < before[0] or done < before[1]:
            yield f"topic {topic} went from versions {before} to {(data, done)}"
        if done > data:
            yield f"topic {topic} was fitted at {done} while its data were at {data}"
        newest[topic] = (data, done)


def sums(seen: Seen) -> Iterator[str]:
    """I8: running sums are what the rows add up to."""
    judged: Counter[int] = Counter()
    seconds: dict[int, float] = {}
    for assignment in seen.assignments.values():
        last = seen.last.get(assignment["id"])
        if assignment["state"] == "judged" and last:
            judged[assignment["annotator_id"]] += 1
            read = min(last["seconds"] or 0.0, 180.0)
            seconds[assignment["annotator_id"]] = seconds.get(assignment["annotator_id"], 0.0) + read
    for key, row in seen.annotators.items():
        if row["judged"] != judged[key]:
            yield f"annotator {key} is said to have judged {row['judged']} pairs and has {judged[key]}"
        if abs(row["seconds"] - seconds.get(key, 0.0)) > 1e-6:
            yield f"annotator {key} is said to have read for {row['seconds']} s, the rows say {seconds.get(key)}"


def secrets(seen: Seen) -> Iterator[str]:
    """I9: no annotator was told the name of a system, and no log says one, or a key to a pair's form."""
    for entry in seen.journal.of("leak"):
        yield f"{entry['path']} told an annotator the name of a system"
    if CANARY in seen.log:
        yield "a log says the name of a system"
    for line in seen.log.splitlines():
        if re.search(r"(ticket|csrfmiddlewaretoken|session)=[\w-]{20}", line):
            yield f"a log holds a ticket, a token or a session: {line[:200]}"


#: Run inside: tries to change what is append-only, and follows the chain of the audit log.
_TAMPER = """
from annotate import audit_log
from django.db import connection, transaction
result = [f"{one.study}.{one.number}: {one.why}" for one in audit_log.verify() if one.study == study]
for verb in ("UPDATE annotate_judgment SET answer = 'tie'", "DELETE FROM annotate_judgment"):
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"{verb} WHERE id = %s", [judgment])
            transaction.set_rollback(True)
            result.append(f"the database took {verb}")
    except Exception:
        pass
"""


def audit_log(seen: Seen) -> Iterator[str]:
    """I10: the study's log begins where it was made, its chain holds, and no judgment can be changed or deleted."""
    rows = seen.tables.rows(
        "SELECT action, number FROM annotate_auditentry WHERE study_id = ? ORDER BY number", seen.study
    )
    if [row["action"] for row in rows[:1]] != ["create study"] or [row["number"] for row in rows] != [
        *range(1, len(rows) + 1)
    ]:
        yield f"the study's log is {[(row['number'], row['action']) for row in rows]}"
    if seen.judgments:
        yield from seen.run(_TAMPER, study=seen.study, judgment=seen.judgments[0]["id"])


def codes(seen: Seen) -> Iterator[str]:
    """I11: whoever leaves with the code for "done" has judged all that they were asked for; nobody at work has one."""
    rows = seen.tables.rows(
        "SELECT p.outcome, p.code, a.judged, a.quota FROM annotate_participation p "
        "JOIN annotate_annotator a ON a.id = p.annotator_id WHERE p.study_id = ?",
        seen.study,
    )
    for row in rows:
        quota = seen.settings["pairs_per_annotator"] if row["quota"] is None else row["quota"]
        if row["outcome"] == "done" and row["judged"] < quota:
            yield f"somebody left as done with {row['judged']} judgments of {quota}"
        if row["outcome"] == "working" and row["code"]:
            yield "somebody at work has a code already"


def no_trouble(seen: Seen) -> Iterator[str]:
    """I13: nobody met an error other than 503 with Retry-After, no program fell over unhandled; all are as before."""
    yield from seen.not_back()
    for entry in seen.journal.of("error"):
        fine = entry["status"] == 503 and entry["retry_after"]
        if not fine and entry["status"] not in seen.expected.statuses:
            yield f"{entry['path']} answered {entry['status']}"
    for part in seen.log.split("Traceback (most recent call last):")[1:]:
        if "During handling of the above exception" in part or "was the direct cause of the following" in part:
            continue  # what it led to is told next
        if "SoftTimeLimitExceeded" in part and not re.search(r"/(evaluation|annotate|preferendum)/", part):
            continue  # Celery told a process to hurry whose task had ended
        last = _last_line(part)
        if not seen.expected.tracebacks or not re.search(seen.expected.tracebacks, last):
            yield f"a traceback in the logs: {last}{_raised_in(part.partition(last)[0])}"


def _last_line(traceback: str) -> str:
    """What a traceback ends with: its first line that is not indented."""
    for line in traceback.splitlines()[1:]:
        if line and not line.startswith(" "):
            return line[:200]
    return traceback.strip()[-200:]


def _raised_in(traceback: str) -> str:
    """Where a traceback says that it was raised, innermost first; an empty text where it does not say."""
    frames = re.findall(r'^  File "([^"]+)", (line \d+, in \S+)', traceback, re.MULTILINE)
    return "".join(f" < {'/'.join(Path(file).parts[-2:])} {place}" for file, place in reversed(frames[-4:]))


INVARIANTS: dict[str, Callable[[Seen], Iterator[str]]] = {
    "I1": acknowledged,
    "I2": sent,
    "I3": one_current,
    "I4": places,
    "I5": complete,
    "I6": fitted,
    "I7": never_back,
    "I8": sums,
    "I9": secrets,
    "I10": audit_log,
    "I11": codes,
    "I12": exports,
    "I13": no_trouble,
}
MOST = 3  # complaints of one kind that are told


def broken(seen: Seen) -> list[str]:
    """What is broken, in words; nothing where all is well."""
    breaches = []
    for name, invariant in INVARIANTS.items():
        try:
            complaints = list(invariant(seen))
        except Exception as error:  # rows that make no sense are broken too
            complaints = [f"could not be checked: {type(error).__name__}: {error}"]
        breaches += [f"{name}: {complaint}" for complaint in complaints[:MOST]]
        if len(complaints) > MOST:
            breaches.append(f"{name}: and {len(complaints) - MOST} more like these")
    return breaches
