"""The site has its files where the repository has them, so that the same links lead on in both."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent
SHOWN = ("*.md", "docs/**/*.*", "static/icon.svg", "benchmarks/*/*.md", "lab/results/*.md")
LINK = re.compile(r"\[([^]]*)\]\((?!#|\w+:)([^)#]+)[^)]*\)")


def on_files(files, config):
    """README as the first page, docs/, and what these link to, each under its path in the repository."""
    shown = [path.relative_to(ROOT) for pattern in SHOWN for path in sorted(ROOT.glob(pattern))]
    own = [File(path.as_posix(), str(ROOT), config.site_dir, config.use_directory_urls) for path in shown]
    return Files([*(file for file in files if file.src_dir != config.docs_dir), *own])


def on_page_markdown(markdown, page, config, files):
    """Of a link to a file that the site does not have the text is left, as inside the product."""

    def kept(link):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(page.file.src_uri), link[2]))
        return link[1] if (ROOT / target).exists() and target not in files.src_uris else link[0]

    return LINK.sub(kept, markdown)
