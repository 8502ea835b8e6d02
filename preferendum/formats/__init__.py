"""The public formats as plain records, read and written.

This room knows neither the website nor the mathematics, so that the browser, the API, `manage.py` and the offline
command line all read the same files with the same checks.
"""

from preferendum.formats.checks.complaints import message
from preferendum.formats.readers.preferences import write_preferences
from preferendum.formats.readers.reading import read, read_metric_scores
from preferendum.formats.readers.tables import write_rows
from preferendum.formats.readers.topics import write_topics
from preferendum.formats.readers.whole import existing_from
from preferendum.formats.records import (
    Bundle,
    Complaint,
    Existing,
    ExistingTopic,
    Preference,
    Refused,
    Seen,
    Summary,
    Text,
    Topic,
    Turn,
)
