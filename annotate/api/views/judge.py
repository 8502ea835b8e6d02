"""Judging by programs: the same pairs and answers as on the page, and nothing more to see."""

from __future__ import annotations

import uuid

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import access, crowd, judging
from annotate.api.access import find_own_study, own_annotators
from annotate.api.serializers.judging import (
    AnnotatorSerializer,
    AnswerSerializer,
    JoiningSerializer,
    OwnAnnotatorSerializer,
    PairSerializer,
    RecordedSerializer,
    RemainingSerializer,
    SelectionSerializer,
    SkippingSerializer,
    UndoingSerializer,
)
from annotate.api.views.base import View
from annotate.models import Annotator, Assignment, Questionnaire
from annotate.refusal import Refusal, invalid
from preferendum.formats.answers import ANSWERS


def _show(view: View, assignment: Assignment) -> Response:
    """What an annotator may see of a pair."""
    annotator, item_set = assignment.annotator, assignment.item_set
    shown = {
        "key": assignment.key,
        "of": item_set.of,
        "question": assignment.question,
        "prompt": item_set.topic.prompt if item_set.of == "summaries" else "",
        "left": assignment.left.text,
        "right": assignment.right.text,
        "left_turns": assignment.left.turns,
        "right_turns": assignment.right.turns,
        "answers": list(annotator.study.answers),
        "reason_words": annotator.study.reason_words,
        "reason_note": annotator.study.reason_note,
        "revision": assignment.revision + 1,
        "progress": {"judged": annotator.judged, "quota": annotator.pairs_wanted},
    }
    return view.show(PairSerializer, shown)


class JudgeView(View):
    takes_key = False  # the pair's own key recognizes repeats, and an answer's transaction holds nothing else

    def assignment(self, key: uuid.UUID) -> Assignment:
        """A pair that was drawn by the caller, in a study within their token's scope. Raises `Http404`."""
        return get_object_or_404(Assignment.objects.to_show(), key=key, annotator__in=own_annotators(self.request))


@extend_schema(tags=["judging"])
class Annotators(JudgeView):
    @extend_schema(operation_id="list_annotators", responses=AnnotatorSerializer(many=True))
    def get(self, request: Request, study_id: int) -> Response:
        """The annotators of a study, under pseudonyms, with their numbers of judgments."""
        study = self.study(study_id, "annotators")
        return self.page(AnnotatorSerializer, Annotator.objects.arrived().filter(study=study).order_by("pk"))

    @extend_schema(operation_id="join_as_machine", request=JoiningSerializer, responses={201: OwnAnnotatorSerializer})
    def post(self, request: Request, study_id: int) -> Response:
        """Let a program judge in a study that you belong to, and say what is known of it.

        Its judgments are stored and shown as a machine's.

        If the study asks for consent, the person who runs the program agrees: 409 with the code `consent` gives the
        text and its version, and that version as `consent` agrees to it. It is stored word for word, once a version.
        """
        study = find_own_study(request, study_id)
        sent = self.sent(JoiningSerializer)
        with transaction.atomic():
            annotator = judging.join(study, user=self.user, kind=Annotator.Kind.MACHINE, pseudonym=sent["pseudonym"])
            if sent.get("judge") is not None:
                judging.describe(annotator, sent["judge"], self.user)
            crowd.agree_to(annotator, sent.get("consent"))
        return self.show(OwnAnnotatorSerializer, annotator, 201)


@extend_schema(tags=["judging"])
class Draw(JudgeView):
    @extend_schema(operation_id="count_pairs", parameters=[SelectionSerializer], responses=RemainingSerializer)
    def get(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """How many pairs the machine is to judge, and how many answers are left; without `of`, of people's pairs."""
        annotator = get_object_or_404(own_annotators(request), key=key, study=study_id, kind=Annotator.Kind.MACHINE)
        sent = self.checked(SelectionSerializer, {"of": "people", **request.query_params.dict()})
        return self.show(RemainingSerializer, judging.left(annotator, judging.Selection(**sent)))

    @extend_schema(operation_id="draw_pair", request=SelectionSerializer, responses=PairSerializer)
    def post(self, request: Request, study_id: int, key: uuid.UUID) -> Response:
        """The pair to judge now: the open one, or a new one; for a machine, of those that it is to judge.

        409 if there is none; the code says why: `done`, `no_work`, `paused`, `closed`, `excluded`,
        `screened_out`, `skipped`, `hour`, `resting`, `questionnaire`. 403 for members, who see the results.
        """
        annotator = get_object_or_404(own_annotators(request), key=key, study=study_id)
        if annotator.kind == Annotator.Kind.HUMAN and access.is_partial(self.user, annotator.study):
            raise PermissionDenied
        if crowd.due(annotator, Questionnaire.Place.BEFORE):
            raise Refusal(_("Answer the questions about yourself on the website first."), "questionnaire")
        sent = self.sent(SelectionSerializer)
        if "of" in sent and annotator.kind != Annotator.Kind.MACHINE:
            raise invalid("of", _("Only a machine is given certain pairs."))
        drawn = judging.draw_selected(annotator, judging.Selection(**sent)) if "of" in sent else judging.draw(annotator)
        if isinstance(drawn, judging.NoPair):
            raise Refusal(drawn.text(annotator.study), drawn)
        return _show(self, drawn)


@extend_schema(tags=["judging"])
class JudgePair(JudgeView):
    @extend_schema(
        operation_id="judge_pair",
        request=AnswerSerializer,
        responses={201: RecordedSerializer, 200: RecordedSerializer},
    )
    def post(self, request: Request, key: uuid.UUID) -> Response:
        """Say which of the two answers the question better.

        201: stored. 200: the same answer was already stored. 409: another answer to this revision stands.
        """
        assignment = self.assignment(key)
        sent = self.sent(AnswerSerializer)
        if sent["answer"] not in assignment.annotator.study.answers:
            message = _("This study does not allow the answer “%(answer)s”.")
            raise invalid("answer", message % {"answer": _(ANSWERS[sent["answer"]].name)})
        if sent.get("confidence") is not None and assignment.annotator.kind != Annotator.Kind.MACHINE:
            raise invalid("confidence", _("Only a machine says how sure it is."))
        recorded = judging.record_judgment(assignment, **sent)
        if recorded.outcome == judging.Outcome.DIFFERS:
            raise Refusal(
                _("Another answer was given before and stands: %(answer)s.") % {"answer": recorded.judgment.answer},
                "answered",
            )
        shown = {
            "key": assignment.key,
            "revision": recorded.judgment.revision,
            "answer": recorded.judgment.answer,
            # A pair that checks an annotator must not give itself away by not counting.
            "counted": recorded.counted or not assignment.is_wanted,
        }
        return self.show(RecordedSerializer, shown, 201 if recorded.outcome == judging.Outcome.STORED else 200)


@extend_schema(tags=["judging"])
class Skip(JudgeView):
    @extend_schema(operation_id="skip_pair", request=SkippingSerializer, responses={204: None})
    def post(self, request: Request, key: uuid.UUID) -> Response:
        """Skip a pair, with a reason, and report it to the researchers if it is wrong for every annotator."""
        if not judging.skip(self.assignment(key), **self.sent(SkippingSerializer)):
            raise Refusal(_("This pair has already been answered or skipped."), "answered")
        return Response(status=204)


@extend_schema(tags=["judging"])
class Undo(JudgeView):
    @extend_schema(operation_id="undo_judgment", request=UndoingSerializer, responses=PairSerializer)
    def post(self, request: Request, key: uuid.UUID) -> Response:
        """Undo the last answer. The pair is open again, under a new revision."""
        assignment = self.assignment(key)
        if not judging.undo(assignment, self.sent(UndoingSerializer).get("revision")):
            raise Refusal(_("There is no answer to undo."), "not_answered")
        return _show(self, assignment)
