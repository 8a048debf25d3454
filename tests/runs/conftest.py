"""What commands that ask models have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.provider import NO_FILES, Provider, serve


@pytest.fixture
def stub() -> Iterator[Provider]:
    with serve(Provider(reply=NO_FILES)) as provider:
        yield provider
