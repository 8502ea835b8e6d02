#!/bin/sh
# standardwebhooks 1.1.0, seen 2026-11-29
#
# One would guess: a moment signs alike in whatever time zone it is written, as the number of seconds is the same.
# What happens: `sign` puts UTC in place of the zone instead of converting to it. The same moment in UTC+2 is signed two
#   hours later than the header of its own seconds says, and `verify` answers "No matching signature found".
# What it means: messages whose moment has a local zone are never accepted, and the failure looks like a wrong secret.
#   Give `sign` moments in UTC: `when.astimezone(timezone.utc)`.
set -eu
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
"${PYTHON:-python3}" -m venv "$room/venv"
"$room/venv/bin/python" -m pip --quiet --disable-pip-version-check install --no-compile \
    standardwebhooks==1.1.0 || exit 2
cd "$room"
"$room/venv/bin/python" - <<'PYTHON'
import base64
import sys
from datetime import datetime, timedelta, timezone

from standardwebhooks import Webhook, WebhookVerificationError

hook = Webhook("whsec_" + base64.b64encode(b"a secret of twenty-four.").decode())
body, here = '{"type":"study.decided"}', datetime.now(timezone(timedelta(hours=2)))
same = here.astimezone(timezone.utc)
signed = {"as UTC+2": hook.sign("msg_1", here, body), "as UTC": hook.sign("msg_1", same, body)}
outcomes = {}
for zone, signature in signed.items():
    headers = {"webhook-id": "msg_1", "webhook-timestamp": str(int(same.timestamp())), "webhook-signature": signature}
    try:
        hook.verify(body, headers)
        outcomes[zone] = "accepted"
    except WebhookVerificationError as error:
        outcomes[zone] = str(error)
    print(f"{zone}: {outcomes[zone]}")
if here != same or outcomes != {"as UTC+2": "No matching signature found", "as UTC": "accepted"}:
    sys.exit("Changed: a moment is signed alike in each time zone.")
PYTHON
