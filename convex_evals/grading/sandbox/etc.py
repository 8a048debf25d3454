"""What a contained process finds in /etc."""

from __future__ import annotations

from pathlib import Path

# Without these files `localhost` does not resolve and users have no names.
ETC_FILES = {
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "passwd": "nobody:x:65534:65534:nobody:/tmp:/bin/sh\n",
    "group": "nogroup:x:65534:\n",
    "nsswitch.conf": "hosts: files\n",
    "resolv.conf": "",
}


def make_etc(folder: Path) -> None:
    """Write what a sandbox finds in /etc into a new `folder`."""
    folder.mkdir()
    for name, text in ETC_FILES.items():
        (folder / name).write_text(text)
