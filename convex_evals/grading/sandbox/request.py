"""What the launcher is asked to start."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class LaunchRequest:
    """What is to be started, and how it is confined before `argv` is executed. Descriptors become 0, 1, 2, 3, ..."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    network: int | None = None  # which one to enter
    reach: list[int] | None = None  # of that network: enter a new one instead, in which these ports lead there
    own_network: bool = False  # enter a new one, which no other process is in
    project_ports_only: bool = False  # connections to what projects may ask, see `networks`
    rules: dict[str, Any] | None = None  # a Landlock domain, see `LandlockRules`
    filter_calls: bool = False  # for a process in the machine's network
    filter_fd: int | None = None  # a filter for a process in a network of its own can be read from this descriptor
    uid: int | None = None  # user and group to become
    no_rights: bool = False  # of root, even where root starts it
    processors: list[int] = field(default_factory=list)  # the ones to run on; none: all
    limits: dict[str, int] = field(default_factory=dict)
    memory_bytes: int | None = None  # of all its processes together
    together: str | None = None  # launches of this name share one limit of memory and of descriptors
    most_processes: int = 1024  # where the system can count those of a launch; threads count
    # Where files in memory are to be mounted, which only it sees; each with this size, and so many files at most.
    memory_places: list[str] = field(default_factory=list)
    place_bytes: int = 0
    place_files: int = 0
    folders: list[str] = field(default_factory=list)  # on disk, which it may not fill
    folder_bytes: int = 0  # in each of them, and a file counts for at least a page
