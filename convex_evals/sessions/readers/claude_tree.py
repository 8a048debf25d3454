"""Which records of a tree are the conversation: those on the path to its end, and what hangs at them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A record's place in the tree, and what it has to do with others."""

    id: str
    parents: tuple[str, ...] = ()  # the record that this one follows; the first of them that is there
    is_start: bool = False  # a path of its own begins here where no parent is named
    is_said: bool = False  # a person's request, or a piece of a reply
    reply: Hashable = None  # the same for all pieces of one reply
    calls: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()  # calls of which it has the result


Parents = dict[str, str | None]


def chosen(nodes: Sequence[TreeNode]) -> tuple[set[str], int]:
    """Ids of the nodes on the path to the last one, and how many other paths were given up. Ids are unique.

    Calls that were made at once are a chain of records, and each result hangs at its own: a result is on the path if
    its call is. Attachments may hang beside the path; a path that was given up has a request or a reply.
    """
    parents, is_tree = _parents(nodes)
    if not is_tree:
        return {node.id for node in nodes}, 0
    spoken = [node for node in nodes if node.is_said or node.answers] or nodes
    path = _path(spoken[-1].id, parents)
    _complete(path, nodes)
    beside, branches = _others([node for node in nodes if node.id not in path], parents, path)
    return path | beside, branches


def _parents(nodes: Sequence[TreeNode]) -> tuple[Parents, bool]:
    """Each node's parent, and whether any is named. Where it is not in the file, it was the record before."""
    ids = {node.id for node in nodes}
    parents: Parents = {}
    is_tree, before = False, None
    for node in nodes:
        named = next((each for each in node.parents if each in ids and each != node.id), None)
        is_tree = is_tree or named is not None
        parents[node.id] = named or (None if node.is_start and not node.parents else before)
        before = node.id
    return parents, is_tree


def _path(end: str, parents: Parents) -> set[str]:
    path: set[str] = set()
    at: str | None = end
    while at is not None and at not in path:
        path.add(at)
        at = parents[at]
    return path


def _complete(path: set[str], nodes: Sequence[TreeNode]) -> None:
    """Add the other pieces of replies on the path, and the results of their calls."""
    pieces: dict[Hashable, list[TreeNode]] = defaultdict(list)
    results: dict[str, TreeNode] = {}
    for node in nodes:
        if node.reply is not None:
            pieces[node.reply].append(node)
        results.update(dict.fromkeys(node.answers, node))
    pending = [node for node in nodes if node.id in path]
    answers = {call for node in pending for call in node.answers}
    while pending:
        node = pending.pop()
        found = pieces.pop(node.reply, []) if node.reply is not None else []
        found += [results[call] for call in node.calls if call in results and call not in answers]
        for each in found:
            if each.id not in path:
                path.add(each.id)
                answers.update(each.answers)
                pending.append(each)


def _others(nodes: Sequence[TreeNode], parents: Parents, path: set[str]) -> tuple[set[str], int]:
    """Of the nodes that are not on the path: those beside it, and the number of ends of paths that were given up."""
    tops: dict[str, str] = {}
    for node in nodes:
        trail, at = [], node.id
        while at not in tops:
            trail.append(at)
            tops[at] = at
            above = parents[at]
            if above is None or above in path:
                break
            at = above
        tops.update(dict.fromkeys(trail, tops[at]))
    given_up = {tops[node.id] for node in nodes if node.is_said}
    beside = {node.id for node in nodes if tops[node.id] not in given_up}
    return beside, _ends(nodes, parents, path) or min(1, len(given_up))  # a circle has no end


def _ends(nodes: Sequence[TreeNode], parents: Parents, path: set[str]) -> int:
    """How many requests and replies have none below them."""
    followed: set[str] = set()
    for node in nodes:
        above = parents[node.id] if node.is_said else None
        while above is not None and above not in path and above not in followed:
            followed.add(above)
            above = parents[above]
    return sum(node.is_said and node.id not in followed for node in nodes)
