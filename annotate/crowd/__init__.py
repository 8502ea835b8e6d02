"""Paid annotators arrive, consent and leave: the one writer of the tables of `annotate.models.crowd`."""

from annotate.crowd.arriving import agree, agree_to, enter, find, has_agreed, recruitment_of
from annotate.crowd.asking import answer_questionnaire, due, questionnaire_of, restore_questionnaires, set_questionnaire
from annotate.crowd.demographics import put_demographics
from annotate.crowd.leaving import has_left, leave, participation_of, return_link, withdraw
from annotate.crowd.personal import personal_data
from annotate.crowd.recruiting import SETTINGS, recruit
