"""The addresses below /api/v1/."""

from django.urls import path, re_path, register_converter

from annotate.api import schema  # noqa: F401  # tells OpenAPI how tokens are sent
from annotate.api.errors import not_found
from annotate.api.paths import Id
from annotate.api.views import (
    account,
    analyses,
    annotators,
    data,
    docs,
    files,
    forecasts,
    judge,
    metrics,
    results,
    studies,
    texts,
)

register_converter(Id, "id")

STUDY = "studies/<id:study_id>/"
TOPIC = f"{STUDY}topics/<id:topic_id>/"

urlpatterns = [
    path("schema/", docs.schema, name="api_schema"),
    path("docs/", docs.Docs.as_view(), name="api_docs"),
    path("me/", account.Me.as_view(), name="api_me"),
    path("tokens/", account.Tokens.as_view(), name="api_tokens"),
    path("tokens/<id:token_id>/", account.OneToken.as_view(), name="api_token"),
    path("studies/", studies.Studies.as_view(), name="api_studies"),
    path(STUDY, studies.OneStudy.as_view(), name="api_study"),
    path(f"{STUDY}copies/", studies.StudyCopies.as_view(), name="api_study_copies"),
    path(f"{STUDY}members/", studies.Members.as_view(), name="api_members"),
    path(f"{STUDY}members/<id:user_id>/", studies.OneMember.as_view(), name="api_member"),
    path(f"{STUDY}invitations/", studies.Invitations.as_view(), name="api_invitations"),
    path(f"{STUDY}invitations/<id:invitation_id>/", studies.OneInvitation.as_view(), name="api_invitation"),
    path(f"{STUDY}topics/", texts.Topics.as_view(), name="api_topics"),
    path(TOPIC, texts.OneTopic.as_view(), name="api_topic"),
    path(f"{TOPIC}documents/", texts.Documents.as_view(), name="api_documents"),
    path(f"{TOPIC}documents/<id:document_id>/", texts.OneDocument.as_view(), name="api_document"),
    path(f"{TOPIC}references/", texts.References.as_view(), name="api_references"),
    path(f"{TOPIC}sentences/", texts.Sentences.as_view(), name="api_sentences"),
    path(f"{TOPIC}sentences/<id:sentence_id>/", texts.OneSentence.as_view(), name="api_sentence"),
    path(f"{TOPIC}leaderboard/", results.TopicLeaderboard.as_view(), name="api_topic_leaderboard"),
    path(f"{TOPIC}results/", analyses.TopicAnalyses.as_view(), name="api_topic_results"),
    path(f"{TOPIC}results/<slug:analysis>/", analyses.OneTopicAnalysis.as_view(), name="api_topic_result"),
    path(f"{STUDY}reported-pairs/", texts.ReportedPairs.as_view(), name="api_reported_pairs"),
    path(f"{STUDY}summaries/", texts.Summaries.as_view(), name="api_summaries"),
    path(f"{STUDY}summaries/<id:summary_id>/", texts.OneSummary.as_view(), name="api_summary"),
    path(f"{STUDY}leaderboard/", results.Leaderboard.as_view(), name="api_leaderboard"),
    path(f"{STUDY}results/", analyses.Analyses.as_view(), name="api_results"),
    path(f"{STUDY}results/<slug:analysis>/", analyses.OneAnalysis.as_view(), name="api_result"),
    path(f"{STUDY}judgments/", results.Judgments.as_view(), name="api_judgments"),
    path(f"{STUDY}uploads/", files.Uploads.as_view(), name="api_uploads"),
    path(f"{STUDY}uploads/baselines/", files.Baselines.as_view(), name="api_baselines"),
    path(f"{STUDY}uploads/simulated/", files.Simulated.as_view(), name="api_simulated"),
    path(f"{STUDY}uploads/<uuid:key>/", files.OneUpload.as_view(), name="api_upload"),
    path(f"{STUDY}uploads/<uuid:key>/columns/", files.Columns.as_view(), name="api_upload_columns"),
    path(f"{STUDY}uploads/<uuid:key>/confirm/", files.Confirmation.as_view(), name="api_upload_confirm"),
    path(f"{STUDY}uploads/<uuid:key>/discard/", files.Discard.as_view(), name="api_upload_discard"),
    path(f"{STUDY}data/", data.Data.as_view(), name="api_data"),
    path(f"{STUDY}removals/", data.Removals.as_view(), name="api_removals"),
    path(f"{STUDY}removals/<uuid:key>/restore/", data.Restoration.as_view(), name="api_removal_restore"),
    path(f"{STUDY}metrics/given/", metrics.GivenMetrics.as_view(), name="api_given_metrics"),
    path(f"{STUDY}forecasts/", forecasts.Forecasts.as_view(), name="api_forecasts"),
    path(f"{STUDY}forecasts/<uuid:key>/", forecasts.OneForecast.as_view(), name="api_forecast"),
    path(f"{STUDY}course/", forecasts.StudyCourse.as_view(), name="api_course"),
    path(f"{STUDY}dataset/", files.Dataset.as_view(), name="api_dataset"),
    path(f"{STUDY}exports/", files.Exports.as_view(), name="api_exports"),
    path(f"{STUDY}exports/<uuid:key>/", files.OneExport.as_view(), name="api_export"),
    path(f"{STUDY}exports/<uuid:key>/file/", files.ExportFile.as_view(), name="api_export_file"),
    path(f"{STUDY}annotators/figures/", annotators.AnnotatorFigures.as_view(), name="api_annotator_figures"),
    path(f"{STUDY}annotators/demographics/", annotators.Demographics.as_view(), name="api_demographics"),
    path(f"{STUDY}audit-log/", annotators.AuditLog.as_view(), name="api_audit_log"),
    path(f"{STUDY}what-if/", annotators.WhatIfs.as_view(), name="api_what_ifs"),
    path(f"{STUDY}what-if/<uuid:key>/", annotators.OneWhatIf.as_view(), name="api_what_if"),
    path(f"{STUDY}exclusions/", annotators.Exclusions.as_view(), name="api_exclusions"),
    path(f"{STUDY}annotators/", judge.Annotators.as_view(), name="api_annotators"),
    path(f"{STUDY}annotators/<uuid:key>/draw/", judge.Draw.as_view(), name="api_draw"),
    path("assignments/<uuid:key>/judgment/", judge.JudgePair.as_view(), name="api_judgment"),
    path("assignments/<uuid:key>/skip/", judge.Skip.as_view(), name="api_skip"),
    path("assignments/<uuid:key>/undo/", judge.Undo.as_view(), name="api_undo"),
    re_path(r"^(?P<path>.*)$", not_found, name="api_nothing"),
]
