"""Subprocesses: one way to start them and one way to end them; none of them outlives this process."""

from convex_evals.process.children import Child, Started, spawn, start_child
from convex_evals.process.command import Completed, run
from convex_evals.process.pipes import OUTPUT_LIMIT, open_reader, open_writer, read_fd
from convex_evals.process.reaper import kill_group

__all__ = [
    "OUTPUT_LIMIT",
    "Child",
    "Completed",
    "Started",
    "kill_group",
    "open_reader",
    "open_writer",
    "read_fd",
    "run",
    "spawn",
    "start_child",
]
