"""`push`: the dataset of a study on a server, to where the field looks for datasets."""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from preferendum.about import __version__
from preferendum.cli.common import Command, InputError
from preferendum.client import TOKEN, ApiError, Study

if TYPE_CHECKING:
    from huggingface_hub import HfApi

#: Files of an earlier push, which would stay beside those of a study that has another title, or no texts any more.
EARLIER = ["*-judgments.jsonl", "*-judgments-with-texts.jsonl", "*-chosen-rejected.jsonl"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to, which study, and what may be seen there."""
    parser.add_argument("where", metavar="hf", choices=["hf"], help="the Hugging Face Hub")
    parser.add_argument("repository", metavar="REPO", type=_repository, help="OWNER/NAME; it is made if it is missing")
    parser.add_argument("--study", metavar="ADDRESS", required=True, help="as a browser shows it")
    parser.add_argument(
        "--license", metavar="NAME", type=_license, required=True, help="one that the texts allow, such as cc-by-4.0"
    )
    parser.add_argument("--without-texts", action="store_true", help="names in place of texts, for texts of others")
    parser.add_argument("--public", action="store_true", help="for everybody to see (default: a private repository)")


def run(options: argparse.Namespace) -> str:
    """The address of what is there now. Raises `InputError` where either side refuses."""
    try:
        import huggingface_hub
        from huggingface_hub.errors import HfHubHTTPError, LocalTokenNotFoundError
    except ImportError:
        raise InputError("huggingface-hub is not installed: pip install 'preferendum[hf]'") from None
    if not (token := os.environ.get(TOKEN, "")):
        raise InputError(f"{TOKEN} is not set: make a token on the server's account page, reading is enough")
    hub = huggingface_hub.HfApi(library_name="preferendum", library_version=__version__)
    try:
        with TemporaryDirectory() as folder:
            maker = _maker(hub, options.repository)
            Study(options.study, token).dataset(folder, texts=not options.without_texts)
            address = f"{hub.endpoint}/datasets/{options.repository}"
            _complete(Path(folder), address, maker, options.license)
            return _pushed(hub, options, folder)
    except (ApiError, HfHubHTTPError, LocalTokenNotFoundError, ValueError) as refused:
        raise InputError(str(refused)) from refused


def _repository(text: str) -> str:
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text!r} is not OWNER/NAME")
    return text


def _license(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9.+-]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name of a licence on the Hub, such as cc-by-4.0")
    return text


def _maker(hub: HfApi, repository: str) -> dict[str, str]:
    """The owner of the repository, as the description names the maker of a dataset."""
    owner, _slash, _name = repository.partition("/")
    kind = "Person" if hub.whoami()["name"] == owner else "Organization"
    return {"@type": f"sc:{kind}", "name": owner, "url": f"{hub.endpoint}/{owner}"}


def _complete(folder: Path, address: str, maker: dict[str, str], chosen: str) -> None:
    """Add to the card and to the description what only the publisher knows."""
    card, description = folder / "README.md", folder / "croissant.json"
    text = re.sub(r"(?m)^# license: .*$", f"license: {chosen}", card.read_text(encoding="utf-8"), count=1)
    card.write_text(text, encoding="utf-8")
    content = json.loads(description.read_text(encoding="utf-8"))
    content |= {"url": address, "creator": maker, "license": {"@type": "sc:CreativeWork", "name": chosen}}
    description.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _pushed(hub: HfApi, options: argparse.Namespace, folder: str) -> str:
    """Make one commit of the folder, in a repository that is private unless it may be public; the commit's address."""
    name = options.repository
    hub.create_repo(name, repo_type="dataset", private=not options.public, exist_ok=True)
    if not (options.public or hub.dataset_info(name).private):
        raise InputError(f"{name} is there already, and everybody sees it: --public says that this is meant")
    done = hub.upload_folder(
        repo_id=name,
        repo_type="dataset",
        folder_path=folder,
        commit_message="Judgments from Preferendum",
        delete_patterns=EARLIER,
    )
    return f"{done.commit_url}\n"


COMMAND = Command(
    name="push",
    help="publish a study's dataset, such as on the Hugging Face Hub",
    description="Publishes the judgments of a study on a server as a dataset, with its card and its description in "
    f"Croissant. Your token of the server is read from {TOKEN}, that of the Hub from where `hf auth login` keeps it or "
    "from HF_TOKEN.",
    add_arguments=add_arguments,
    run=run,
    takes="hf REPO",
    makes_file=True,
)
