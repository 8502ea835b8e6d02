"""`manage.py demo`: the whole product on this machine, with real studies to try it on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from django.contrib.auth.models import Permission, User
from django.core.management import call_command
from django.db import transaction
from django.urls import reverse

from annotate import imports, invitations, judging, members, studies
from annotate.audit_log import begin_again
from annotate.management.commands import serve
from annotate.models import Annotator, Invitation, Membership, Study
from preferendum import formats
from preferendum.formats.records import Preference

TITLE = "WikiNews demo"
LABEL = "Demo"
SIMULATED = 1_000  # judgments a topic, as many as in the paper: enough to tell some systems apart
#: The share of questions about whole summaries, which take two minutes to read here.
SUMMARY_SHARE = 0.3
#: Each of these simulates so many answers a topic, this share of them by a coin.
SIMULATED_OF_SUMMARIES, CARELESS = 3, 0.15
SIMULATED_READERS = tuple(f"simulated reader {n}" for n in range(1, 11))
GUIDELINES = "\n\n".join(
    [
        "Imagine a friend who has not heard of these events and asks you to sum them up in a few lines. "
        "Which of the two sentences would you rather have in that summary?",
        "Of two whole summaries, prefer the one that tells more of what is central, in whatever style; open the "
        "documents if you are not sure.",
        "Judge what a sentence says, not how well it is written, and not whether you like the news. A sentence "
        "that can be understood on its own and says something central is better than a detail or a comment.",
        "If you do not know the subject, that is fine: open the document, or think of what you would want to "
        "know first.",
        "Example: “The death toll has passed 80,000 in eleven countries.” contains more important information about "
        "a disaster than “He said that he had bought the painting for his wife.”",
    ]
)
#: Questions about stories, and what four reviewers think of the answers (annotate/demo/README.md).
RATED = studies.EXAMPLE.parent / "squality"
#: Whoever sees the study sees whose work it is.
RATED_TITLE = "SQuALITY demo (Wang et al. 2022, CC BY 4.0)"
#: Judgments about the sentences of each story that is here: more than one a sentence.
SIMULATED_OF_STORIES = 500
RATED_GUIDELINES = (
    "Of two answers to a question about a story, prefer the one that tells more of what matters and gets it right.\n\n"
    "**What this demo compares.** Every question has three answers: by the systems bart and bart-dpr, and by a person. "
    "Three reviewers scored each from 0 to 100. Who scored higher won, and how often it did is its win rate; *Metrics* "
    "holds ROUGE and others against the same scores. Judgments of sentences are simulated from reference answers.\n\n"
    "Questions, answers and scores: [SQuALITY](https://github.com/nyu-mll/SQuALITY) (Wang, Pang, Chen, Phang and "
    "Bowman, EMNLP 2022), [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/). Stories: Project Gutenberg."
)
#: The demo's users; annotators need no account.
ROLES = {
    "researcher": "demo-researcher",
    "admin": "demo-admin",
}
OWNER = ROLES["researcher"]


class Command(serve.Command):
    help = "Set up demo studies of news and stories and serve everything on this machine, until Ctrl-C."

    def prepare(self) -> None:
        super().prepare()
        make_demo_study(self.stdout.write)
        make_rated_study(self.stdout.write)

    def welcome(self, origin: str) -> None:
        """Print the address and a link for each role."""
        own = Invitation.objects.filter(label=LABEL, created_by__username=OWNER)
        invitation = own.select_related("study").latest("pk")
        rated = Study.objects.filter(title=RATED_TITLE).last() or invitation.study
        agreement = reverse("analysis", args=[rated.pk, "agreement-of-annotators"])
        pages = {"researcher": reverse("leaderboard", args=[rated.pk]), "admin": agreement}
        super().welcome(origin)
        self.stdout.write("The invitation to judge, for anybody (here, on a phone, in another browser):\n")
        self.stdout.write(f"  {'annotator':<11}{origin}{invitations.invitation_path(invitation)}\n\n")
        self.stdout.write(
            "Whoever has one of these links can sign in as that person for "
            f"{invitations.SIGN_IN_LINK_HOURS} hours, as often as they like:\n"
        )
        for role, username in ROLES.items():
            user = User.objects.get(username=username)
            self.stdout.write(f"  {role:<11}{origin}{invitations.sign_in_path(user, pages[role])}\n")


def make_demo_study(say: Callable[[str], object]) -> None:
    """Store the demo's topics, some simulated judgments, the two people and an invitation.

    Steps that are done already are skipped, so a broken-off start can be repeated.
    """
    accounts_by_role = {role: account(name) for role, name in ROLES.items()}
    for user in accounts_by_role.values():
        user.user_permissions.add(Permission.objects.get(codename="add_study"))
    owner = accounts_by_role["researcher"]
    study, is_new = _stored(
        owner,
        say,
        studies.EXAMPLE,
        title=TITLE,
        compares="both",
        summary_share=SUMMARY_SHARE,
        guidelines=GUIDELINES,
        ties_allowed=True,
        pilot=True,
        counted_kinds="people-and-simulated",
    )
    _simulate(study, SIMULATED, say)
    if not Invitation.objects.filter(study=study, label=LABEL).exists():
        judging.import_judgments(study, list(_about_summaries(study)), Annotator.Kind.SIMULATED)
        members.set_role(study, owner, accounts_by_role["admin"], Membership.Role.ADMIN)
        invitations.invite(study, owner, role=Membership.Role.ANNOTATOR, label=LABEL)
    if is_new:
        begin_again(study)


def make_rated_study(say: Callable[[str], object]) -> None:
    """Store a study whose summaries people rated and compared, with simulated judgments about sentences."""
    owner = account(OWNER)
    study, is_new = _stored(
        owner,
        say,
        RATED,
        title=RATED_TITLE,
        compares="both",
        summary_question="Which answer to the question about the story is better?",
        guidelines=RATED_GUIDELINES,
        judgments_per_pair=3,
        counted_kinds="people-and-simulated",
    )
    _simulate(study, SIMULATED_OF_STORIES, say)
    members.set_role(study, owner, account(ROLES["admin"]), Membership.Role.ADMIN)
    if is_new:
        begin_again(study)


def _simulate(study: Study, per_topic: int, say: Callable[[str], object]) -> None:
    if not Annotator.objects.filter(study=study, kind=Annotator.Kind.SIMULATED).exists():
        say(f"Simulating {per_topic} judgments per topic from the references ...")
        call_command("simulate_judgments", study.pk, per_topic=per_topic, seed=0, verbosity=0)


@transaction.atomic
def _stored(
    owner: User, say: Callable[[str], object], path: Path, *, title: str, **settings: Any
) -> tuple[Study, bool]:
    """The owner's study of this title; if there is none yet, made of a file or folder: then it is new."""
    study = Study.objects.filter(created_by=owner, title=title).order_by("pk").first()
    if study is not None:
        return study, False
    say(f"Storing the study “{title}” ...")
    study = studies.make_study(owner, title=title, **settings)
    imports.store(study, formats.read(path, existing=formats.Existing({}), language=study.language))
    return study, True


def _about_summaries(study: Study) -> Iterator[Preference]:
    """Simulated answers about whole summaries: more of the references' words wins, except for coin tosses."""
    chance = Random(0)  # noqa: S311  # the same answers on every machine
    for topic in study.topics.prefetch_related("references", "summaries__system"):
        wanted = set().union(*(_words(reference.whole) for reference in topic.references.all()))
        shared = {summary.system.name: len(wanted & _words(summary.whole)) for summary in topic.summaries.all()}
        for annotator in SIMULATED_READERS:
            for _answer in range(SIMULATED_OF_SUMMARIES):
                a, b = chance.sample(sorted(shared), 2)
                is_first = chance.random() < 0.5 if chance.random() < CARELESS else shared[a] > shared[b]
                yield Preference(topic.name, a, b, "a" if is_first else "b", annotator=annotator, of="summaries")


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.lower()))


def account(username: str) -> User:
    """The user of this name, who signs in by links alone.

    A link ends with a fingerprint of the password, so each has an unusable one of its own, even if an older version
    left it empty.
    """
    user, _is_new = User.objects.get_or_create(username=username)
    if not user.password:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    return user
