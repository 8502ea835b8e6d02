"""The analyses of a study or a topic: a question, a record that answers it, and what is shown of the record.

`evaluation` computes; each file here shows one record as tables and figures. This registry joins both by name, and
pages, files, API, terminal and menus follow from it. It is not part of the website, since the terminal shows the same.
"""

from preferendum.show.analyses.registry import Analysis, of_study, of_topic
