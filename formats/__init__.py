"""What goes in and out: the public formats as plain records, read and written.

This room knows neither the website nor the mathematics, so that the browser, the API, `manage.py` and the offline
command line all read the same files with the same checks.
"""

from formats.checking import existing_from
from formats.complaints import message
from formats.latex import write_latex
from formats.preferences import write_preferences
from formats.reading import read, read_metric_scores
from formats.records import Bundle, Complaint, Existing, ExistingTopic, Preference, Refused, Summary, Text, Topic
from formats.tables import write_rows
from formats.topics import write_topics
