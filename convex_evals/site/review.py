"""Sessions in `cli view`: their list, each of them with its label, and exports.

All of it is below the token, reading as well: a conversation is more private than a result.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from convex_evals.errors import UserError, bug_line
from convex_evals.sessions.exports import EXPORTS
from convex_evals.sessions.index import SessionFilter, open_index
from convex_evals.sessions.store import SessionStore
from convex_evals.site import urls
from convex_evals.site.answers import HEADERS, HTML, Form, answer, plain_answer
from convex_evals.site.downloads import begin, download, file_name
from convex_evals.site.html import Page, Rendition, render
from convex_evals.site.labelling import LabelConflict, LabelWriter, NotAForm
from convex_evals.site.pages.session import label_page, session_page
from convex_evals.site.pages.sessions import SECTION, sessions_page
from convex_evals.site.session_view import SessionView
from convex_evals.text import capitalized

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

PART = "x-part"  # header of a script's request: the label alone is wanted
_PLACE = re.compile(rf"{urls.SESSIONS_FOLDER}/(?P<id>[0-9a-f]{{20}})(?P<label>/label|\.html)")
_RENDITION = Rendition(live=True, writes=True)
_NO_STORE = {"Cache_Control": "no-store"}


def is_of_sessions(place: str) -> bool:
    """Whether `Review` answers at this place."""
    return place == urls.SESSIONS or place.startswith(f"{urls.SESSIONS_FOLDER}/")


@dataclass(frozen=True)
class Review:
    """The pages on the sessions of one store."""

    store: SessionStore
    log_bug: Callable[[BaseException], str]  # the name of the file that has the details
    writer: LabelWriter = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "writer", LabelWriter(self.store))

    def answer(self, request: Request, place: str, form: Form | None, *, has_token: bool) -> Response:
        """Answer one request; `form` is what was sent, None of a request that reads."""
        make = partial(self._read, request, place) if form is None else partial(self._write, request, place, form)
        status = 500 if form is None else 400
        try:
            if has_token:
                return make()
            status, problem = 403, _ADVICE
        except NotAForm:
            problem = "That is not a form of these pages."
        except UserError as error:
            problem = str(error)
        except Exception as error:
            status, problem = 500, capitalized(bug_line(error, self.log_bug(error)))
        return _page(_problem(place, problem, "Not shown" if form is None else "Not done"), status)

    def _read(self, request: Request, place: str) -> Response:
        view = SessionView.of(request.query_params)
        if place == urls.SESSIONS:
            return _page(sessions_page(self.store, view))
        found = _PLACE.fullmatch(place)
        if found and found["label"] == "/label":
            return self._label(request, found["id"], view)
        page = None
        if found:
            start = request.query_params.get("from", "")
            number = int(start) if re.fullmatch(r"[1-9][0-9]{0,8}", start) else 1
            page = session_page(self.store, found["id"], view, number)
        return _page(page) if page else _page(_problem(place, "There is no such session."), 404)

    def _label(self, request: Request, session_id: str, view: SessionView, problem: str = "") -> Response:
        page = label_page(self.store, session_id, view, problem)
        if page is None:
            return _page(_problem(urls.session(session_id), "There is no such session."), 404)
        return answer(request, render(page, _RENDITION).encode(), HTML, 409 if problem else 200, **_NO_STORE)

    def _write(self, request: Request, place: str, form: Form) -> Response:
        if place == urls.SESSIONS_EXPORT:
            return self._export(form)
        if place == urls.SESSIONS_MARK:
            return self._mark(form)
        found = _PLACE.fullmatch(place)
        if not found or found["label"] != "/label" or self.store.find(found["id"]) is None:
            return _page(_problem(place, "There is no such session."), 404)
        return self._save(request, found["id"], {name: values[-1] for name, values in form.items()})

    def _save(self, request: Request, session_id: str, fields: dict[str, str]) -> Response:
        view, is_script = SessionView.of(request.query_params), PART in request.headers
        try:
            self.writer.save(session_id, fields)
        except (LabelConflict, UserError) as error:
            if is_script:
                return self._label(request, session_id, view, str(error))
            own, there = (error.own, error.there) if isinstance(error, LabelConflict) else (fields.get("value", ""), "")
            context = {"problem": str(error), "own": own, "there": there, "back": urls.session(session_id)}
            return _page(Page(urls.session_label(session_id), "conflict", "Nothing was saved", SECTION, context), 409)
        if is_script:
            return self._label(request, session_id, view)
        return _redirect(urls.href(urls.session(session_id), of=urls.session_label(session_id)) + view.query + "#label")

    def _mark(self, form: Form) -> Response:
        ready = {"yes": True, "no": False}.get(_one(form, "mark"))
        if ready is None:
            raise NotAForm
        view = _view(form)
        self.writer.mark(self._chosen(form, SessionFilter(ready=not ready)), ready=ready)
        return _redirect(urls.href(urls.SESSIONS, of=urls.SESSIONS_MARK) + view.query)

    def _export(self, form: Form) -> Response:
        wanted = EXPORTS.get(_one(form, "format"))
        if wanted is None:
            raise NotAForm
        ids = self._chosen(form, SessionFilter(ready=True))
        status = _view(form).status if "all" in form else None
        first, rest = begin(self.store, ids, wanted)
        return download(wanted, file_name(wanted, status), first, rest, {**HEADERS, "Cache-Control": "no-store"})

    def _chosen(self, form: Form, among: SessionFilter) -> list[str]:
        """Return the ids of the sessions that are ticked, or of the whole view, in its order. Raises `UserError`."""
        with open_index(self.store) as index:
            if "all" in form:
                index.refuse_problems()
                return [session_id for session_id, _ in index.outline(_view(form).filter())]
            ticked = set(form.get("id", ()))
            found = [session_id for session_id, _ in index.outline(among) if session_id in ticked]
        if not found:
            raise UserError("No session is selected: tick some, or select all.")
        return found


_ADVICE = (
    "Conversations are more private than results: open the second address that `cli view` printed, which has a token, "
    "to read, label and export them."
)


def _view(form: Form) -> SessionView:
    """Of the page that sent the form."""
    return SessionView.of({name: values[-1] for name, values in form.items()})


def _one(form: Form, name: str) -> str:
    return form.get(name, [""])[-1]


def _page(page: Page, status: int = 200) -> Response:
    return plain_answer(render(page, _RENDITION).encode(), HTML, status, **_NO_STORE)


def _problem(place: str, problem: str, title: str = "Not shown") -> Page:
    return Page(place, "problem", title, SECTION, {"problem": problem})


def _redirect(target: str) -> Response:
    from starlette.responses import RedirectResponse

    return RedirectResponse(target, 303, headers=HEADERS)
