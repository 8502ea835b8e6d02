"""The audit log in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotate.models import AuditEntry
from annotate.reports.method import name_in_words, value_in_words
from preferendum.formats.settings import NAMES

#: What was done, after the name of who did it. Words in brackets are details of the entry.
DONE = {
    "create study": gettext_noop("created the study"),
    "copy study": gettext_noop("copied the study"),
    "change settings": gettext_noop("changed settings"),
    "set state": gettext_noop("changed the study from %(before)s to %(after)s"),
    "recruit": gettext_noop("changed how participants are recruited"),
    "change questionnaire": gettext_noop("changed the questionnaire"),
    "set role": gettext_noop("gave %(member)s the role %(after)s"),
    "remove member": gettext_noop("removed %(member)s from the study"),
    "invite": gettext_noop("made an invitation for the role %(role)s"),
    "accept invitation": gettext_noop("accepted an invitation as %(role)s"),
    "revoke invitation": gettext_noop("revoked an invitation"),
    "create token": gettext_noop("made an access token"),
    "revoke token": gettext_noop("revoked an access token"),
    "create webhook": gettext_noop("set a webhook to %(host)s"),
    "replace webhook secret": gettext_noop("replaced the secret of a webhook to %(host)s"),
    "test webhook": gettext_noop("sent a test to a webhook to %(host)s"),
    "delete webhook": gettext_noop("deleted a webhook to %(host)s"),
    "request export": gettext_noop("asked for an export"),
    "download participants": gettext_noop("downloaded the list of participants and their codes (%(people)s)"),
    "find annotator": gettext_noop("looked for %(annotator)s"),
    "read addresses": gettext_noop("read the addresses of annotators (%(annotators)s)"),
    "upload": gettext_noop("uploaded %(filename)s"),
    "choose columns": gettext_noop("chose columns of %(filename)s"),
    "make baselines": gettext_noop("asked for baseline systems"),
    "simulate judgments": gettext_noop("asked for simulated judgments"),
    "store upload": gettext_noop("stored the upload of %(filename)s"),
    "confirm upload": gettext_noop("confirmed the upload of %(filename)s"),
    "discard upload": gettext_noop("discarded the upload of %(filename)s"),
    "remove data": gettext_noop("removed data"),
    "replace data": gettext_noop("replaced data by a newer file"),
    "restore data": gettext_noop("restored data"),
    "mend document": gettext_noop("edited the sentences of a document"),
    "leave out sentence": gettext_noop("left a sentence out of judging"),
    "take back sentence": gettext_noop("took a sentence back into judging"),
    "prepare pair": gettext_noop("prepared a pair"),
    "forget pair": gettext_noop("removed a prepared pair"),
    "put demographics": gettext_noop("uploaded what a platform knows of participants (%(stored)s)"),
    "put metric scores": gettext_noop("uploaded scores of metrics"),
    "plan judgments": gettext_noop("planned how many judgments a topic needs"),
    "describe judge": gettext_noop("said what is known of the machine %(annotator)s"),
    "import judgments": gettext_noop("stored judgments (%(judgments)s, %(kind)s)"),
    "exclude annotator": gettext_noop("excluded %(annotator)s"),
    "take annotator back in": gettext_noop("included %(annotator)s again"),
    "pause annotator": gettext_noop("paused %(annotator)s"),
    "end pause of annotator": gettext_noop("resumed %(annotator)s"),
    "withdraw annotator": gettext_noop("withdrew %(annotator)s; the judgments stay"),
    "erase annotator": gettext_noop("erased an annotator and their judgments (%(judgments)s)"),
}
#: What annotators do themselves, whom the log does not name.
THEIR_OWN = {"withdraw annotator", "erase annotator"}
#: Keys of rows, which say nothing to a reader.
KEYS = {
    *("key", "upload", "export", "removal", "invitation", "token", "gold_pair", "member", "study", "copy"),
    *("entries", "reason", "consent_version", "sha256", "webhook"),
}
DIGEST = re.compile(r", SHA-256 [0-9a-f]+")


def in_words(entries: Iterable[AuditEntry]) -> list[dict[str, Any]]:
    """Entries of the audit log: who did what, and the rest of their details as (name, value)."""
    several = list(entries)
    users = {key for entry in several for key in (entry.actor_id, entry.detail.get("member")) if key}
    names = dict(User.objects.filter(pk__in=users).values_list("pk", "username"))
    return [
        {
            "entry": entry,
            "actor": _actor(entry, names),
            "done": _done(entry, names),
            "reason": entry.detail.get("reason", ""),
            "detail": list(_details(entry)),
        }
        for entry in several
    ]


def _actor(entry: AuditEntry, names: Mapping[int, str]) -> str:
    if entry.actor_id:
        return names.get(entry.actor_id) or _("a deleted account")
    return _("an annotator") if entry.action in THEIR_OWN else "Preferendum"


def _done(entry: AuditEntry, names: Mapping[int, str]) -> str:
    sentence = DONE.get(entry.action)
    if sentence is None:
        return entry.action
    own = {name: _value(name, value) for name, value in entry.detail.items()}
    own["member"] = names.get(entry.detail.get("member", 0)) or _("a deleted account")
    try:
        return _(sentence) % own
    except KeyError:  # an erasure has emptied the details, or an older version wrote fewer
        return entry.action


def _details(entry: AuditEntry) -> Iterator[tuple[str, str]]:
    """Names and values that the sentence does not have, and each setting's value before and after."""
    used = set(re.findall(r"%\((\w+)\)s", DONE.get(entry.action, "")))
    for name, value in entry.detail.items():
        if name == "changes" or entry.action == "plan judgments":
            for setting, values in (value if name == "changes" else {name: value}).items():
                is_known = setting in NAMES
                before, after = (_words(value_in_words(setting, own) if is_known else own) for own in values)
                yield name_in_words(setting) if is_known else setting.replace("_", " "), f"{before} → {after}"
        elif name not in KEYS | used and value not in (None, "", [], {}):
            yield name.replace("_", " "), _value(name, value)


def _value(name: str, value: object) -> str:
    """In words; what people named keeps its underscores."""
    if isinstance(value, dict):
        filled = {
            key: own for key, own in value.items() if own not in (None, "", [], {}) and not key.endswith("sha256")
        }
        return ", ".join(f"{key.replace('_', ' ')} {_value(key, own)}" for key, own in filled.items())
    return _words(value).replace("_", " ") if name == "kind" else _words(value)


def _words(value: object) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return DIGEST.sub("", str(value))
