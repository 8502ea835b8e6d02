"""The public formats as plain records, read and written.

This room knows neither the website nor the mathematics, so that the browser, the API, `manage.py` and the offline
command line all read the same files with the same checks.
"""

from formats.checks.checking import existing_from
from formats.checks.complaints import message
from formats.latex import write_latex
from formats.readers.preferences import write_preferences
from formats.readers.reading import read, read_metric_scores
from formats.readers.tables import write_rows
from formats.readers.topics import write_topics
from formats.records import Bundle, Complaint, Existing, ExistingTopic, Preference, Refused, Summary, Text, Topic
