"""The analyses of a study or a topic: a question, a record that answers it, and what is shown of the record.

What is worked out is in `evaluation`; each file here shows one record as tables and figures. This registry joins both
by name, and pages, files, API, terminal and menus follow from it. The room stands here and not in the website, since
the terminal shows the same.
"""

from formats.analyses.registry import OF_ALL_SCORES, OF_STUDY, OF_TOPIC, Analysis
