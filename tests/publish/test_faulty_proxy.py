"""Each fault does to a request what it says."""

from __future__ import annotations

import time

import httpx
import pytest

from tests import patience
from tests.publish.deployed import Deployment
from tests.publish.faulty_proxy import Fault, FaultyProxy

# Of what the tests of publishing stand on, which seldom changes.
pytestmark = [pytest.mark.grading, pytest.mark.full]


def started(proxy: FaultyProxy, deployment: Deployment) -> httpx.Response:
    """A request that leaves a trace each time that it arrives."""
    args = {"token": deployment.token, "version": "v", "evalCount": 1, "curatedModels": []}
    body = {"path": "admin:mintBenchmark", "args": args, "format": "json"}
    return httpx.post(f"{proxy.url}/api/mutation", json=body, timeout=patience.seconds(10), trust_env=False)


def arrived(deployment: Deployment) -> int:
    return len(deployment.everything()["benchmarks"])


def test_without_a_fault_it_is_not_noticed(proxy: FaultyProxy, deployment: Deployment) -> None:
    answer = started(proxy, deployment)
    assert answer.status_code == 200 and answer.json() == {"status": "success", "value": None}
    assert arrived(deployment) == 1
    assert [(each.path, each.function, each.fault) for each in proxy.passed] == [
        ("/api/mutation", "admin:mintBenchmark", None)
    ]


@pytest.mark.parametrize(("fault", "times"), [(Fault.CUT_BEFORE, 0), (Fault.CUT_AFTER, 1)])
def test_cuts(proxy: FaultyProxy, deployment: Deployment, fault: Fault, times: int) -> None:
    proxy.nth(2, fault)
    assert started(proxy, deployment).status_code == 200
    with pytest.raises(httpx.RemoteProtocolError):
        started(proxy, deployment)
    assert arrived(deployment) == 1 + times


def test_late_requests_arrive_after_their_connection_was_cut(proxy: FaultyProxy, deployment: Deployment) -> None:
    proxy.nth(1, Fault.LATE)
    with pytest.raises(httpx.RemoteProtocolError):
        started(proxy, deployment)
    assert arrived(deployment) == 0
    proxy.settle()
    assert arrived(deployment) == 1


def test_doubled_and_delayed_requests(proxy: FaultyProxy, deployment: Deployment) -> None:
    proxy.nth(1, Fault.TWICE)
    assert started(proxy, deployment).status_code == 200 and arrived(deployment) == 2
    proxy.nth(1, Fault.DELAY)
    begin = time.monotonic()
    assert started(proxy, deployment).status_code == 200 and arrived(deployment) == 3
    assert time.monotonic() - begin >= proxy.delay_seconds


@pytest.mark.parametrize(
    ("fault", "status", "times"), [(Fault.UNAVAILABLE, 503, 0), (Fault.LOST_GATEWAY, 504, 1), (Fault.TOO_MANY, 429, 0)]
)
def test_answers_of_its_own(proxy: FaultyProxy, deployment: Deployment, fault: Fault, status: int, times: int) -> None:
    proxy.nth(1, fault)
    answer = started(proxy, deployment)
    assert answer.status_code == status and arrived(deployment) == times
    assert answer.headers.get("retry-after") == ("0" if fault is Fault.TOO_MANY else None)
    assert started(proxy, deployment).status_code == 200


def test_faults_by_function_and_by_chance(proxy: FaultyProxy, deployment: Deployment) -> None:
    proxy.calls("admin:mintBenchmark", Fault.UNAVAILABLE, times=2)
    httpx.get(f"{proxy.url}/version", trust_env=False)
    assert [started(proxy, deployment).status_code for _ in range(3)] == [503, 503, 200]
    chosen = []
    for _ in range(2):
        proxy.seeded(7, 0.5)
        chosen.append([proxy.decide("/", b"") for _ in range(50)])
    assert chosen[0] == chosen[1] and 10 < sum(fault is not None for fault in chosen[0]) < 40


def test_uploads_pass_through_it(proxy: FaultyProxy, deployment: Deployment) -> None:
    body = {"path": "admin:generateUploadUrl", "args": {"token": deployment.token}, "format": "json"}
    url = httpx.post(f"{proxy.url}/api/mutation", json=body, trust_env=False).json()["value"]
    assert url.startswith(proxy.url)
    stored = httpx.post(url, content=b"bytes", headers={"content-type": "application/zip"}, trust_env=False).json()
    assert deployment.download(stored["storageId"]) == b"bytes"
    assert proxy.passed[-1].function is None and proxy.passed[-1].path.startswith("/api/storage/upload")


def test_errors_of_production_say_nothing(proxy: FaultyProxy, deployment: Deployment) -> None:
    proxy.redacts = True
    body = {"path": "admin:generateUploadUrl", "args": {"token": "wrong"}, "format": "json"}
    answer = httpx.post(f"{proxy.url}/api/mutation", json=body, trust_env=False).json()
    assert answer["status"] == "error" and "Invalid" not in answer["errorMessage"]
