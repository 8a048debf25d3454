"""`cli site`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from convex_evals.cli.numbers import WholeNumber
from convex_evals.cli.options import output_option, print_lines, runs_dir_option, site_address, suite_path

if TYPE_CHECKING:
    from convex_evals.render.model import Table
    from convex_evals.site.export import SiteReport


@click.command()
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--base-url",
    metavar="URL",
    callback=site_address,
    help="Where the site will stand; for canonical links and sitemap.xml.",
)
@click.option("--only-published", is_flag=True, help="Leave out runs that no deployment has (`cli publish`).")
@click.option(
    "--replies",
    type=click.Choice(["all", "failed", "packed", "none"]),
    help="Whose replies are shown in full: all trials, or failed ones. `packed`: all are compressed, for a script to "
    "show. Default: failed, and packed where there are more than 5,000 pages of trials.",
)
@click.option("-j", "--processes", type=WholeNumber(1, 64), metavar="N", help="Default: the number of cores.")
@runs_dir_option
@output_option
@click.pass_context
def site(
    ctx: click.Context,
    out: Path,
    base_url: str | None,
    only_published: bool,
    replies: str | None,
    processes: int | None,
    runs_dir: Path | None,
    form: str,
) -> None:
    """Write all pages as static files into the folder OUT, for GitHub Pages or any server.

    They are the pages of `cli view`. Links are relative: the site works below any path, and from the folder itself.
    The same input gives the same bytes; only what changed is written; and the folder is replaced as a whole, so that a
    reader never sees half a site. Files of your own at its top, like CNAME, stay. badge.svg shows the best model.

    \b
    Examples:
      cli site public
      cli site public --base-url https://example.org/evals/ --only-published
      cli site public --replies none
    """
    from convex_evals.config import open_workspace
    from convex_evals.render.terminal import Display
    from convex_evals.site.export import SiteOptions, write_site
    from convex_evals.site.export import processes as cores
    from convex_evals.site.pages.trials import Replies

    workspace = open_workspace(suite_path(ctx), runs_dir, Path.cwd())
    options = SiteOptions(base_url, only_published, Replies(replies) if replies else None, processes or cores())
    with Display() as display:
        found = write_site(workspace, out, options, display.preparing)
    print_lines(form, [_line(out, found)], _table(out, found))


def _line(out: Path, found: SiteReport) -> str:
    from convex_evals.text import counted

    changed = (
        f"{counted(found.written, 'file')} written, {found.removed} removed" if found.changed else "nothing changed"
    )
    return f"{out}: {counted(found.files, 'file')}, {found.size / 1_000_000:,.1f} MB; {changed}"


def _table(out: Path, found: SiteReport) -> Table:
    from convex_evals.render.model import Column, Table

    columns = [Column(name, None) for name in ("folder", "files", "written", "removed", "bytes")]
    return Table.of(columns, [[str(out), found.files, found.written, found.removed, found.size]])
