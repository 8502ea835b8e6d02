"""Webhooks of a study: researchers set them, and they hear what happens there. The only writer of both tables.

A message is stored in the transaction of the fact that it announces, by the code that concludes the fact, and sent by
the worker. Its writer holds the study's lock, so that nobody deletes the study or the webhook meanwhile.
"""

from __future__ import annotations

import base64
import json
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotate.audit_log import note
from annotate.models import Delivery, Study, Webhook
from annotate.models.webhook import PAUSES
from annotate.refusal import Refusal, check, invalid
from annotate.server import limits
from preferendum.results import Agreement

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Event, State = Delivery.Event, Delivery.State
#: Webhooks of one study.
MOST = 5
#: Messages that were delivered or given up stay in the log, so many of each webhook.
KEPT = 50
#: The page that a message links to.
PAGES = {
    Event.DECIDED: "leaderboard",
    Event.QUOTA: "study",
    Event.AGREEMENT: "study",
    Event.EXPORT: "study_export",
    Event.REFUSED: "upload",
    Event.TEST: "study_webhooks",
}


@transaction.atomic
def create(study: Study, user: User, *, address: str, agreement_below: float | None = None) -> Webhook:
    """A new webhook, with the secret that signs its messages. Raises `Refusal` for an address that will not do."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if Webhook.objects.filter(study=study).count() >= MOST:
        raise Refusal(_("A study has at most %(most)d webhooks. Delete one first.") % {"most": MOST}, "too_many")
    webhook = Webhook(study=study, address=address.strip(), secret=_new_secret(), agreement_below=agreement_below)
    check(webhook)
    _check_address(webhook.address)
    webhook.save(force_insert=True)
    note(study, user, "create webhook", **_in_log(webhook))
    return webhook


@transaction.atomic
def replace_secret(webhook: Webhook, user: User) -> Webhook:
    """The webhook with a new secret, which signs all messages from now on."""
    webhook = _locked(webhook)
    webhook.secret = _new_secret()
    webhook.save(update_fields=["secret"])
    note(webhook.study, user, "replace webhook secret", **_in_log(webhook))
    return webhook


@transaction.atomic
def delete(webhook: Webhook, user: User) -> None:
    """Delete a webhook with its log; what waits is not sent."""
    webhook = _locked(webhook)
    gone = _in_log(webhook)
    webhook.delete()
    note(webhook.study, user, "delete webhook", **gone)


@limits.for_each_user(limits.WEBHOOK_TESTS)
@transaction.atomic
def send_test(study: Study, user: User, webhook: Webhook) -> Delivery:
    """Have the worker send a test. Raises `TooOften`."""
    webhook = _locked(webhook)
    note(study, user, "test webhook", **_in_log(webhook))
    return _tell(webhook, Event.TEST, timezone.now())


def announce(study: Study, event: Delivery.Event, **data: str) -> None:
    """Tell all webhooks of a study, in the caller's transaction, which holds the study's lock."""
    now = timezone.now()
    for webhook in Webhook.objects.filter(study=study):
        _tell(webhook, event, now, **data)


def conclude(study: Study, event: Delivery.Event, holds: Callable[[], bool]) -> None:
    """Tell webhooks of a fact once it holds, and again only after it did not, in a transaction as in `announce`.

    `holds` is not called in studies without webhooks.
    """
    webhooks = list(Webhook.objects.filter(study=study))
    if webhooks:
        is_so, now = holds(), timezone.now()
        for webhook in webhooks:
            _conclude(webhook, event, is_so, now)


def conclude_agreement(study_id: int, agreement: Agreement) -> None:
    """Tell the webhooks whose bound lies above the whole interval of alpha; those that heard so hear it again only
    after alpha reached their bound."""
    alpha = agreement.alpha
    if not agreement.has_coefficient or alpha.value is None or alpha.high is None:
        return
    now = timezone.now()
    for webhook in Webhook.objects.filter(study=study_id, agreement_below__isnull=False):
        bound = webhook.agreement_below or 0.0
        if alpha.high < bound or alpha.value >= bound:
            _conclude(webhook, Event.AGREEMENT, alpha.high < bound, now, below=bound)


def begin_attempt(delivery: Delivery) -> bool:
    """Count an attempt before it begins, so that one that kills its process is not repeated at once; False if another
    process was faster, or the message is gone."""
    now, number = timezone.now(), delivery.attempts + 1
    due_at = now + timedelta(seconds=PAUSES[min(number, len(PAUSES)) - 1])
    mine = Delivery.objects.filter(pk=delivery.pk, state=State.WAITING, attempts=delivery.attempts)
    delivery.attempts = number
    return mine.update(attempts=number, tried_at=now, due_at=due_at) > 0


def end_attempt(delivery: Delivery, outcome: str) -> None:
    """Store how an attempt ended: an HTTP status, or one of `Delivery.Outcome`. Success is 200 to 299; a failure counts
    only if no other attempt began since."""
    mine = Delivery.objects.filter(pk=delivery.pk)
    if re.fullmatch("2[0-9][0-9]", outcome):
        mine.update(state=State.DELIVERED, outcome=outcome)
        return
    state = State.GIVEN_UP if delivery.attempts > len(PAUSES) else State.WAITING
    mine.filter(attempts=delivery.attempts).update(state=state, outcome=outcome)


def _conclude(webhook: Webhook, event: Delivery.Event, holds: bool, at: datetime, **data: float) -> None:
    if holds != (event in webhook.holds):
        webhook.holds = [*webhook.holds, event] if holds else [own for own in webhook.holds if own != event]
        webhook.save(update_fields=["holds"])
        if holds:
            _tell(webhook, event, at, **data)


def _tell(webhook: Webhook, event: Delivery.Event, at: datetime, **data: Any) -> Delivery:
    """Store a message. It has no text of the study and nothing about a person: its link leads to more."""
    study = webhook.study_id
    place = [study, data["upload"]] if event == Event.REFUSED else [study]
    about = {"study": study, **data, "link": f"{settings.ORIGIN}{reverse(PAGES[event], args=place)}"}
    body = {"type": event, "timestamp": at.astimezone(UTC).isoformat().replace("+00:00", "Z"), "data": about}
    over = Delivery.objects.filter(webhook=webhook).exclude(state=State.WAITING).order_by("-pk")
    Delivery.objects.filter(pk__in=list(over.values_list("pk", flat=True)[KEPT:])).delete()
    return Delivery.objects.create(webhook=webhook, event=event, body=json.dumps(body), created_at=at, due_at=at)


def _locked(webhook: Webhook) -> Webhook:
    """The webhook as it is now, its study locked."""
    Study.objects.select_for_update(no_key=True).get(pk=webhook.study_id)
    return Webhook.objects.select_related("study").get(pk=webhook.pk)


def _new_secret() -> str:
    return f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"


def _check_address(address: str) -> None:
    """Raise `Refusal` if it is no web address. Its name is resolved when a message is sent, and only then."""
    try:
        parts = urlsplit(address)
        is_whole = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        parts, is_whole = urlsplit(""), False
    schemes = ("https", "http") if settings.WEBHOOK_NETWORKS else ("https",)
    if not (is_whole and parts.scheme in schemes and re.fullmatch("[!-~]+", address)):
        raise invalid("address", _("Enter an address that begins with https://, without a name or password in it."))


def _in_log(webhook: Webhook) -> dict[str, Any]:
    """What the audit log says of it: the host alone, since an address may hold a secret of its receiver."""
    return {"webhook": webhook.pk, "host": urlsplit(webhook.address).hostname}
