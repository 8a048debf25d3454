"""Which of Claude Code's records are the conversation, which were given up, and which are of sub-agents."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convex_evals.sessions.conversation import DETAIL, MESSAGE, OTHER_BRANCH, Conversation, session_id
from convex_evals.sessions.message import TOOL, USER
from convex_evals.sessions.readers.claude_code import READER
from convex_evals.sessions.readers.claude_tree import TreeNode, chosen
from tests.sessions.claude_files import (
    ID,
    SAMPLES,
    Data,
    answer,
    attachment,
    call,
    read,
    read_one,
    record,
    reply,
    shape,
    text,
    user,
    written,
)

PROJECT = SAMPLES / "claude-code" / "-home-ana-shop"
OLDER, MAIN = (
    PROJECT / "0b9c8d7e-1111-4222-8333-444455556666.jsonl",
    PROJECT / "3f1d2c4b-8a6e-4c1f-9b7d-5e2a1c0d4f6b.jsonl",
)
NEWER = PROJECT / "c4e2a7d0-2222-4b3c-9d5e-777788889999.jsonl"
START = [user("u", "hi"), reply("a", "ho", "u")]


# Branches


def test_a_session_with_all_of_it() -> None:
    """A request from the queue, a repeated reply, a compaction that kept a record, and an agent of a workflow."""
    main, agent = read(NEWER)
    assert shape(main) == [
        *("Sort the orders by date.", "", "src/orders.ts:4", "newest first", "Sorted, newest first."),
        *("And by price, too", "By date, and by price within a day.", "Good. Sweep the docs with a workflow."),
        f"({next(each.text for each in main.messages if each.injected)})",
        *("", "1 page is stale.", "One page is stale."),
    ]
    assert (main.branches, main.records.fates) == (1, {MESSAGE: 12, DETAIL: 2, OTHER_BRANCH: 1})
    assert main.raw == NEWER.read_text().splitlines()
    assert (agent.native_id, agent.parent, shape(agent)) == (
        *(f"{NEWER.stem}/f00dcafe", NEWER.stem, ["Is docs/orders.md stale?", "Yes."]),
    )


def test_an_edited_request_takes_the_place_of_the_first() -> None:
    main = read(MAIN, ":34: ")[0]
    assert main.branches == 1
    assert main.records.fates[OTHER_BRANCH] == 2
    assert not any("fial" in each.text or "Let me look" in each.text for each in main.messages)


@pytest.mark.parametrize(
    ("records", "said", "branches", "left"),
    [
        pytest.param([user("v", "1", "a"), reply("b", "2", "v"), user("w", "3", "a")], ["3"], 1, 2, id="edited"),
        pytest.param([user("v", "1", "a"), user("w", "2", "a"), user("x", "3", "a")], ["3"], 2, 2, id="edited twice"),
        pytest.param(
            [user("v", "1", "a"), reply("b", "2", "v"), reply("c", "3", "v")], ["1", "3"], 1, 1, id="repeated"
        ),
        pytest.param(
            [user("v", "1", "a"), reply("b", "2", "v"), user("w", "3", "b"), user("x", "4", "b"), user("y", "5", "a")],
            ["5"],
            2,
            4,
            id="a branch of a branch",
        ),
        pytest.param(
            [user("v", "1", "a"), user("w", "2", "a"), user("x", "3", "v")], ["1", "3"], 1, 1, id="back again"
        ),
        pytest.param(
            [user("v", "1", "a"), attachment("t", "v", type="file"), user("w", "2", "a")], ["2"], 1, 2, id="attachment"
        ),
        pytest.param([attachment("t", "a", type="file"), user("v", "1", "a")], ["1"], 0, 0, id="attachment beside"),
        pytest.param(
            [user("v", "1", "a"), record("progress", "p", "a")], ["1"], 0, 0, id="progress beside, at the end"
        ),
        pytest.param([user("v", "1", "gone")], ["1"], 0, 0, id="parent that is not there"),
        pytest.param([user("v", "1", "v")], ["1"], 0, 0, id="its own parent"),
    ],
)
def test_paths_that_were_given_up(
    tmp_path: Path, records: list[Data], said: list[str], branches: int, left: int
) -> None:
    found = read_one(tmp_path, *START, *records)
    assert shape(found) == ["hi", "ho", *said]
    assert (found.branches, found.records.fates[OTHER_BRANCH]) == (branches, left)
    assert [json.loads(each) for each in found.raw] == [*START, *records]


def test_a_start_that_was_edited_is_given_up(tmp_path: Path) -> None:
    found = read_one(tmp_path, *START, user("v", "hello"), reply("b", "hey", "v"))
    assert (shape(found), found.branches) == (["hello", "hey"], 1)


def test_records_that_name_no_parents_are_all_of_the_conversation(tmp_path: Path) -> None:
    found = read_one(tmp_path, user("u", "1"), reply("a", "2"), user("v", "3"), reply("b", "4"))
    assert (shape(found), found.branches) == (["1", "2", "3", "4"], 0)


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    found = read_one(tmp_path, user("u", "1", "v"), reply("a", "2", "u"), user("v", "3", "a"))
    assert (shape(found), found.branches) == (["1", "2", "3"], 0)


def test_a_long_conversation_is_no_deep_recursion(tmp_path: Path) -> None:
    records = [user("0", "0"), *(user(str(each), str(each), str(each - 1)) for each in range(1, 3000))]
    assert len(read_one(tmp_path, *records).messages) == 3000


# Calls that were made at once

_FIRST, _SECOND = answer("r", "c", "one", "a"), answer("s", "d", "two", "b")
_CALLS = [user("u", "hi"), reply("a", [call("c")], "u", "m"), reply("b", [call("d")], "a", "m")]


@pytest.mark.parametrize(
    ("records", "results"),
    [
        pytest.param([*_CALLS, _FIRST, _SECOND, reply("e", "end", "s")], ["one", "two"], id="each at its call"),
        pytest.param([*_CALLS, _SECOND, _FIRST, reply("e", "end", "r")], ["two", "one"], id="the second first"),
        pytest.param(
            [*_CALLS[:2], _FIRST, _CALLS[2], _SECOND, reply("e", "end", "s")], ["one", "two"], id="in between"
        ),
        pytest.param(
            [*_CALLS, {**_FIRST, "parentUuid": "b"}, {**_SECOND, "parentUuid": "r"}, reply("e", "end", "s")],
            ["one", "two"],
            id="in a chain",
        ),
        pytest.param([*_CALLS, _FIRST, _SECOND, reply("e", "end", "b")], ["one", "two"], id="beside the end"),
    ],
)
def test_calls_made_at_once_are_of_one_reply(tmp_path: Path, records: list[Data], results: list[str]) -> None:
    found = read_one(tmp_path, *records)
    assert [each.id for each in found.messages[1].tool_calls] == ["c", "d"]
    assert shape(found) == ["hi", "", *results, "end"]
    assert {each.text: each.tool_call_id for each in found.messages if each.role == TOOL} == {"one": "c", "two": "d"}
    assert sum(each.usage is not None for each in found.messages) == 2
    assert (found.branches, found.records.fates) == (0, {MESSAGE: len(records)})


def test_calls_and_results_in_one_record_each(tmp_path: Path) -> None:
    results = [{"type": "tool_result", "tool_use_id": each, "content": each} for each in "cd"]
    records = [
        user("u", "hi"),
        reply("a", [call("c"), call("d")], "u"),
        user("r", results, "a"),
        reply("e", "end", "r"),
    ]
    found = read_one(tmp_path, *records)
    assert [(each.role, each.tool_call_id) for each in found.messages[2:4]] == [(TOOL, "c"), (TOOL, "d")]


def test_results_of_calls_that_were_given_up_go_with_them(tmp_path: Path) -> None:
    given_up = [user("v", "no", "a"), reply("b", [call("c")], "v"), answer("r", "c", "text", "b")]
    found = read_one(tmp_path, *START, *given_up, user("w", "yes", "a"))
    assert (shape(found), found.branches) == (["hi", "ho", "yes"], 1)
    assert found.records.fates == {MESSAGE: 3, OTHER_BRANCH: 3}


def test_a_result_that_another_path_has_instead_is_given_up(tmp_path: Path) -> None:
    calls = [user("u", "hi"), reply("a", [call("c")], "u")]
    first = [answer("r", "c", "one", "a"), reply("b", "1", "r")]
    second = [answer("s", "c", "two", "a"), reply("d", "2", "s")]
    found = read_one(tmp_path, *calls, *first, *second, user("v", "go on", "b"))
    assert (shape(found), found.branches) == (["hi", "", "one", "1", "go on"], 1)


# Compaction


def _boundary(uuid: str, logical: str | None) -> Data:
    return record(
        "system", uuid, subtype="compact_boundary", content="Conversation compacted", logicalParentUuid=logical
    )


@pytest.mark.parametrize("logical", ["b", "gone", None])
def test_what_was_compacted_is_still_of_the_conversation(tmp_path: Path, logical: str | None) -> None:
    before = [*START, user("v", "no", "a"), user("w", "go on", "a"), reply("b", "done", "w")]
    after = [_boundary("c", logical), user("s", "summary", "c", isCompactSummary=True), user("x", "and now", "s")]
    found = read_one(tmp_path, *before, *after)
    assert shape(found) == ["hi", "ho", "go on", "done", "(summary)", "and now"]
    assert (found.branches, found.records.fates) == (1, {MESSAGE: 6, DETAIL: 1, OTHER_BRANCH: 1})


def test_a_record_that_was_kept_below_the_boundary_is_no_way_back_to_it(tmp_path: Path) -> None:
    before = [*START, user("v", "no", "a"), user("w", "go on", "a")]
    summary = user("s", "summary", "c", isCompactSummary=True)
    found = read_one(
        tmp_path, *before, _boundary("c", "k"), summary, reply("k", "kept", "s"), user("x", "and now", "k")
    )
    assert shape(found) == ["hi", "ho", "go on", "(summary)", "kept", "and now"]
    assert (found.branches, found.records.fates[OTHER_BRANCH]) == (1, 1)


# Sub-agents


def _aside(records: list[Data], agent: str | None = "x1") -> list[Data]:
    """Records of a sub-agent."""
    return [{**each, "isSidechain": True, **({"agentId": agent} if agent else {})} for each in records]


def _agent(prefix: str, prompt: str, says: str) -> list[Data]:
    return [user(f"{prefix}1", prompt), reply(f"{prefix}2", says, f"{prefix}1")]


def _started(prefix: str, parent: str, prompt: str, **more: Any) -> list[Data]:
    """A call that starts a sub-agent, and its result."""
    calls = [call(f"{prefix}-call", "Task", description=f"do {prefix}", prompt=prompt)]
    return [reply(f"{prefix}-a", calls, parent), answer(f"{prefix}-r", f"{prefix}-call", "done", f"{prefix}-a", **more)]


def _links(conversations: list[Conversation]) -> dict[str, str | None]:
    """The ids of conversations by those of the calls that started them, each being linked both ways."""
    by_session = {each.session_id: each for each in conversations}
    found: dict[str, str | None] = {}
    for each in conversations:
        for message in each.messages:
            if message.subagent:
                child = by_session[message.subagent]
                assert (message.role, child.parent) == (TOOL, each.native_id)
                found[message.tool_call_id or ""] = child.native_id
    return found


def test_a_sub_agent_in_a_file_of_its_own() -> None:
    main, agent = read(MAIN, ":34: ")
    assert (agent.native_id, agent.parent, agent.title) == (f"{MAIN.stem}/a1b2c3d", MAIN.stem, "Check logout")
    assert shape(agent)[0] == "Read src/logout.ts and say whether the token is cleared."
    assert [each.subagent for each in main.messages if each.tool_call_id == "toolu_01C"] == [agent.session_id]
    assert agent.session_id == session_id("claude-code", f"{MAIN.stem}/a1b2c3d")
    assert _links([main, agent]) == {"toolu_01C": agent.native_id}


def test_sub_agents_among_the_records_and_in_older_files() -> None:
    main, inside, beside = read(OLDER)
    assert [each.parent for each in (main, inside, beside)] == [None, OLDER.stem, OLDER.stem]
    assert shape(inside) == ["List the uses of helper().", "a.ts:3"]
    assert (beside.native_id, shape(beside)) == (f"{OLDER.stem}/9f8e7d6c", ["Warm up", "Ready."])
    assert _links([main, inside, beside]) == {"toolu_0O1": inside.native_id}
    assert main.raw == [each for each in OLDER.read_text().split("\n") if each and '"isSidechain":true' not in each]


@pytest.mark.parametrize(
    ("way", "where"),
    [
        *(("result", where) for where in ("subagents", "beside", "inside")),
        *(("prompt", where) for where in ("subagents", "beside", "inside")),
        *(("description", where) for where in ("subagents", "beside")),
    ],
)
def test_each_way_of_linking_in_each_place(tmp_path: Path, way: str, where: str) -> None:
    agent = _aside(_agent("x", "look" if way == "prompt" else "see", "seen"))
    folder = tmp_path / ID / "subagents" if where == "subagents" else tmp_path
    main = [
        user("u", "hi"),
        *_started("t", "u", "look", **({"toolUseResult": {"agentId": "x1"}} if way == "result" else {})),
    ]
    if where != "inside":
        written(folder / "agent-x1.jsonl", *agent)
    if way == "description":
        written(folder / "agent-x1.meta.json", {"toolUseId": "t-call", "description": "Have a look"})
    found = read(written(tmp_path / f"{ID}.jsonl", *main, *(agent if where == "inside" else ())))
    assert _links(found) == {"t-call": f"{ID}/x1"}
    assert [each.parent for each in found] == [None, ID]
    assert found[1].title == ("Have a look" if way == "description" else None)


def test_agents_that_were_given_the_same_request_are_told_apart_or_not_linked(tmp_path: Path) -> None:
    first, second = _aside(_agent("x", "look", "1"), "x1"), _aside(_agent("y", "look", "2"), "y1")
    calls = [user("u", "hi"), *_started("s", "u", "look"), *_started("t", "s-r", "look")]
    found = read(written(tmp_path / f"{ID}.jsonl", *calls, *first, *second))
    assert (_links(found), [each.parent for each in found]) == ({}, [None, ID, ID])
    calls[2]["toolUseResult"] = {"agentId": "y1"}
    found = read(written(tmp_path / f"{ID}.jsonl", *calls, *first, *second))
    assert _links(found) == {"s-call": f"{ID}/y1", "t-call": f"{ID}/x1"}


def test_an_agent_that_starts_another(tmp_path: Path) -> None:
    outer = [user("x1", "look"), *_started("in", "x1", "deeper", toolUseResult={"agentId": "a0"})]
    written(tmp_path / ID / "subagents" / "agent-a0.jsonl", *_aside(_agent("y", "deeper", "deep"), "a0"))
    written(tmp_path / ID / "subagents" / "agent-b0.jsonl", *_aside(outer, "b0"))
    file = written(tmp_path / f"{ID}.jsonl", user("u", "hi"), *_started("out", "u", "look"))
    found = read(file)
    assert [each.native_id for each in found] == [ID, f"{ID}/b0", f"{ID}/a0"]
    assert _links(found) == {"out-call": f"{ID}/b0", "in-call": f"{ID}/a0"}


def test_agents_that_start_each_other_are_of_the_session(tmp_path: Path) -> None:
    for agent, other in ("ab", "ba"):
        records = [user(f"{agent}1", agent), *_started(agent, f"{agent}1", other, toolUseResult={"agentId": other})]
        written(tmp_path / ID / "subagents" / f"agent-{agent}.jsonl", *_aside(records, agent))
    found = read(written(tmp_path / f"{ID}.jsonl", *START))
    assert [(each.native_id, each.parent) for each in found] == [(ID, None), (f"{ID}/a", ID), (f"{ID}/b", f"{ID}/a")]


def test_agents_of_workflows_are_in_folders_below(tmp_path: Path) -> None:
    folder = tmp_path / ID / "subagents" / "workflows" / "wf_1"
    written(folder / "agent-x1.jsonl", *_aside(_agent("x", "look", "seen")))
    written(folder / "journal.jsonl", {"type": "started", "agentId": "x1"})
    file = written(tmp_path / f"{ID}.jsonl", *START)
    assert [each.native_id for each in read(file)] == [ID, f"{ID}/x1"]
    assert list(READER.files(tmp_path)) == [file]


def test_branches_of_a_sub_agent_are_its_own(tmp_path: Path) -> None:
    agent = _aside([*_agent("x", "look", "1"), reply("x3", "2", "x1")])
    main, found = read(written(tmp_path / f"{ID}.jsonl", *START, *agent))
    assert (main.branches, main.records.fates) == (0, {MESSAGE: 2})
    assert (found.branches, shape(found)) == (1, ["look", "2"])


def test_chains_without_ids_of_agents_are_told_apart_by_their_beginnings(tmp_path: Path) -> None:
    first, second = _aside(_agent("x", "one", "1"), None), _aside(_agent("y", "two", "2"), None)
    mixed = [first[0], second[0], second[1], first[1]]
    found = read(written(tmp_path / f"{ID}.jsonl", *START, *mixed))
    assert [(each.native_id, shape(each)) for each in found[1:]] == [
        (f"{ID}/x1", ["one", "1"]),
        (f"{ID}/y1", ["two", "2"]),
    ]


def test_a_file_that_has_only_records_of_agents(tmp_path: Path) -> None:
    summary = {"type": "summary", "summary": "x", "leafUuid": "x2"}
    (found,) = read(written(tmp_path / f"{ID}.jsonl", summary, *_aside(_agent("x", "look", "seen"))))
    assert (found.native_id, found.parent) == (f"{ID}/x1", ID)
    assert found.records.fates == {MESSAGE: 2, DETAIL: 1}


def test_a_file_of_an_agent_alone(tmp_path: Path) -> None:
    file = written(tmp_path / ID / "subagents" / "agent-x1.jsonl", *_aside(_agent("x", "look", "seen")))
    assert list(READER.files(tmp_path)) == [file]
    (found,) = read(file)
    assert (found.native_id, found.parent, shape(found)) == (f"{ID}/x1", ID, ["look", "seen"])


def test_an_agent_is_a_file_of_its_own_where_its_session_is_not_read(tmp_path: Path) -> None:
    place, away = tmp_path / "place", written(tmp_path / "away.jsonl", *START)
    agent = written(place / ID / "subagents" / "agent-x1.jsonl", *_aside(_agent("x", "look", "seen")))
    session = written(place / f"{ID}.jsonl", *START)
    assert list(READER.files(place)) == [session]
    assert list(READER.files(agent.parent)) == [agent]
    session.unlink()
    session.symlink_to(away)
    assert list(READER.files(place)) == [agent]


def test_problems_of_an_agents_file_name_it(tmp_path: Path) -> None:
    agent = written(tmp_path / ID / "subagents" / "agent-x1.jsonl", *_aside(_agent("x", "look", "seen")), "{")
    found = read(written(tmp_path / f"{ID}.jsonl", *START), f"{agent}:3: ")
    assert found[1].records.fates == {MESSAGE: 2, "unreadable": 1}


# Files


def _home(tmp_path: Path) -> Path:
    home = tmp_path / ".claude"
    shutil.copytree(PROJECT.parent, home / "projects")
    for name in ("history.jsonl", "settings.json", ".credentials.json", "stats.jsonl", "todos/1.json", "debug/x.txt"):
        written(home / name, {"secret": "do not read"})
    return home


def test_only_conversations_are_files(tmp_path: Path) -> None:
    home = _home(tmp_path)
    project = home / "projects" / PROJECT.name
    written(project / "memory" / "notes.md", "x")
    written(project / "sessions-index.json", {})
    expected = [project / OLDER.name, project / MAIN.name, project / NEWER.name]
    for place in (home, home / "projects", project):
        assert list(READER.files(place)) == expected
    assert list(READER.files(expected[0])) == [expected[0]]


def test_the_history_of_requests_is_no_conversation(tmp_path: Path) -> None:
    history = written(tmp_path / "history.jsonl", {"display": "hi", "project": "/home/ana"})
    assert list(READER.files(tmp_path)) == list(READER.files(history)) == []


def test_reading_opens_no_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = _home(tmp_path)
    opened: list[Path] = []
    original = Path.open

    def noted(path: Path, *arguments: Any, **more: Any) -> Any:
        opened.append(path)
        return original(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", noted)
    for file in READER.files(home):
        list(READER.read(file, lambda line: None))
    project = home / "projects" / PROJECT.name
    assert {each.relative_to(project).name for each in opened} == {
        *(OLDER.name, MAIN.name, NEWER.name),
        *("agent-9f8e7d6c.jsonl", "agent-a1b2c3d.jsonl", "agent-a1b2c3d.meta.json", "agent-f00dcafe.jsonl"),
    }


def test_links_are_not_followed(tmp_path: Path) -> None:
    away = tmp_path / "away"
    secret = written(away / "secret.jsonl", user("s", "secret", sessionId=ID))
    agents = written(away / "subagents" / "agent-s1.jsonl", *_aside(_agent("s", "secret", "secret"), "s1"))
    place = tmp_path / "place"
    file = written(place / f"{ID}.jsonl", *START)
    (place / "linked.jsonl").symlink_to(secret)
    (place / "folder").symlink_to(away)
    (place / "agent-s1.jsonl").symlink_to(agents)
    assert list(READER.files(place)) == [file]
    (place / ID).symlink_to(away)
    assert [each.native_id for each in read(file)] == [ID]
    (place / ID).unlink()
    (place / ID).mkdir()
    (place / ID / "subagents").symlink_to(away / "subagents")
    assert [each.native_id for each in read(file)] == [ID]
    (place / ID / "subagents").unlink()
    written(place / ID / "subagents" / "agent-x1.jsonl", *_aside(_agent("x", "look", "seen")))
    (place / ID / "subagents" / "agent-s1.jsonl").symlink_to(agents)
    description = written(away / "d.json", {"description": "secret"})
    (place / ID / "subagents" / "agent-x1.meta.json").symlink_to(description)
    assert [(each.native_id, each.title) for each in read(file)] == [(ID, None), (f"{ID}/x1", None)]


# The tree alone

_IDS = st.sampled_from("abcdefgh")
_NODES = st.lists(
    st.builds(
        TreeNode,
        id=_IDS,
        parents=st.lists(_IDS, max_size=2).map(tuple),
        is_start=st.booleans(),
        is_said=st.booleans(),
        reply=st.none() | st.sampled_from("xy"),
        calls=st.lists(st.sampled_from("12"), max_size=2).map(tuple),
        answers=st.lists(st.sampled_from("12"), max_size=2).map(tuple),
    ),
    unique_by=lambda node: node.id,
)


@settings(max_examples=150, deadline=None)
@given(_NODES)
def test_any_nodes_have_a_path(nodes: list[TreeNode]) -> None:
    path, branches = chosen(nodes)
    spoken = [node for node in nodes if node.is_said or node.answers] or nodes
    assert path <= {node.id for node in nodes}
    assert not nodes or spoken[-1].id in path
    left = [node for node in nodes if node.id not in path]
    assert branches <= sum(node.is_said for node in left)
    assert bool(branches) == bool(left)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_requests_of_any_tree(steps: list[int]) -> None:
    """Each request follows one that is so many before it; those above the last are the path."""
    parents = {number: max(0, number - 1 - step) for number, step in enumerate(steps, 1)}
    nodes = [TreeNode("0", is_start=True, is_said=True)]
    nodes += [TreeNode(str(each), (str(parent),), is_start=True, is_said=True) for each, parent in parents.items()]
    path, at = {0}, len(steps)
    while at:
        path.add(at)
        at = parents[at]
    ends = set(parents) - set(parents.values()) - {len(steps)}
    assert chosen(nodes) == ({str(each) for each in path}, len(ends - path))


def test_texts_of_the_first_request_are_the_persons(tmp_path: Path) -> None:
    found = read_one(tmp_path, user("u", [text("a"), text("b")]))
    assert [(each.role, each.content) for each in found.messages] == [(USER, [text("a"), text("b")])]
