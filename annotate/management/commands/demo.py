"""`manage.py demo`: the whole product on this machine, with a real study to try it on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.core.management import call_command

from annotate import links, studies
from annotate.management.commands import serve
from annotate.models import Annotator, Invitation, Membership, Study

TOPICS = Path(settings.BASE_DIR) / "annotate" / "demo" / "wikinews.jsonl"
TITLE = "WikiNews demo"
LABEL = "Demo"
SIMULATED = 100  # judgments a topic, so that no page is empty; the others are left to the visitor
GUIDELINES = "\n\n".join(
    [
        "Imagine a friend who has heard nothing of these events and asks you to sum them up in a few lines. "
        "Which of the two sentences would you rather have in that summary?",
        "Judge what a sentence tells, not how well it is written, and not whether you like the news. A sentence "
        "that can be understood on its own and tells something central beats a detail or a comment.",
        "If you know nothing of the subject, that is fine: open the document, or go by what you would want to "
        "know first.",
        "Example: “The death toll has passed 80,000 in eleven countries.” contains more important information about "
        "a disaster than “He said that he had bought the painting for his wife.”",
    ]
)
PEOPLE = {
    "annotator": "demo-annotator",
    "researcher": "demo-researcher",
    "admin": "demo-admin",
}
OWNER = PEOPLE["researcher"]


class Command(serve.Command):
    help = "Set up a demo study of real news and serve everything on this machine, until Ctrl-C."

    def prepare(self) -> None:
        super().prepare()
        make_demo_study(self.stdout.write)

    def welcome(self, origin: str) -> None:
        """Print the address and a link for each of the three people."""
        invitation = Invitation.objects.select_related("study").get(label=LABEL, created_by__username=OWNER)
        study = invitation.study
        pages = {
            "annotator": links.invitation_path(invitation),
            "researcher": f"/studies/{study.pk}/",
            "admin": f"/studies/{study.pk}/judges/",
        }
        super().welcome(origin)
        self.stdout.write("One click signs you in, as each of the three people who use it:\n")
        for role, username in PEOPLE.items():
            user = User.objects.get(username=username)
            self.stdout.write(f"  {role:<11}{origin}{links.sign_in_path(user.pk, pages[role])}\n")
        self.stdout.write("\nThe invitation to judge, for anyone else (a phone, another browser):\n")
        self.stdout.write(f"  {origin}{links.invitation_path(invitation)}\n")


def make_demo_study(say: Callable[[str], object]) -> None:
    """Store the demo's topics, some simulated judgments, the three people and an invitation.

    Every step is left out where it was done before, so that a start that was broken off is carried on by the next.
    """
    people = {role: User.objects.get_or_create(username=name)[0] for role, name in PEOPLE.items()}
    for role in ("researcher", "admin"):
        people[role].user_permissions.add(Permission.objects.get(codename="add_study"))
    owner = people["researcher"]
    if not Study.objects.filter(created_by=owner, title=TITLE).exists():
        say("Storing the demo study: three topics of WikiNews, ten systems ...")
        call_command("import_study", str(TOPICS), title=TITLE, owner=owner.username, verbosity=0)
    study = Study.objects.filter(created_by=owner, title=TITLE).earliest("pk")
    if not Annotator.objects.filter(study=study, kind=Annotator.Kind.SIMULATED).exists():
        say(f"Simulating {SIMULATED} judgments a topic from the references ...")
        call_command("simulate_judgments", study.pk, per_topic=SIMULATED, seed=0, verbosity=0)
    if not Invitation.objects.filter(study=study, label=LABEL).exists():
        studies.change_settings(study, owner, guidelines=GUIDELINES, ties_allowed=True, pilot=True)
        studies.set_role(study, owner, people["admin"], Membership.Role.ADMIN)
        studies.invite(study, owner, role=Membership.Role.ANNOTATOR, label=LABEL)
