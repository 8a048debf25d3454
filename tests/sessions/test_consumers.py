"""Exports, read by those whom they are for: DeepEval, Inspect, OpenAI's types, promptfoo, Hugging Face's datasets."""

from __future__ import annotations

import asyncio
import io
import json
import platform
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest
from pydantic import TypeAdapter

from convex_evals.grading.toolchain import locate_toolchain
from convex_evals.sessions.exchanges import last_turn
from convex_evals.sessions.exports import EXPORTS, LabelledSession
from convex_evals.sessions.readers.registry import NAMES, find_reader
from scripts.npm_packages import install_packages
from tests import patience
from tests.conftest import clean_environment
from tests.consumers.libraries import CONSUMERS, install_libraries, read
from tests.sessions.conversations import debugging, exported, hostile_sessions, labelled

SAMPLES = Path(__file__).parent / "samples"
_LONG = 100_000  # characters; what is longer than that is left to the other tests: consumers are slow
Exported = Callable[[str], Path]


@pytest.fixture(scope="module")
def sessions() -> list[LabelledSession]:
    """Made up, hostile, and of each agent's samples."""
    hostile = [each for each in hostile_sessions() if len(each.label.expectedOutput or "") < _LONG]
    found = [debugging(), *hostile]
    for name in NAMES:
        reader = find_reader(name)
        for file in sorted(path for path in (SAMPLES / name).rglob("*") if path.is_file()):
            for conversation in reader.read(file, lambda problem: None):
                found.append(labelled(conversation.messages, number=1000 + len(found), title=conversation.title))
    assert len(found) > len(hostile) + len(NAMES)
    return found


@pytest.fixture
def export(sessions: list[LabelledSession], tmp_path: Path) -> Exported:
    def export(name: str) -> Path:
        file = tmp_path / f"sessions.{EXPORTS[name].suffix}"
        file.write_bytes(exported(name, sessions))
        return file

    return export


@pytest.fixture(scope="module")
def python() -> Path:
    return install_libraries()


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]


@pytest.mark.full
def test_deepeval_reads_test_cases_and_goldens(export: Exported, python: Path) -> None:
    file = export("deepeval")
    cases, goldens = read(python, "deepeval", file)
    assert cases == goldens == json.loads(file.read_bytes())


@pytest.mark.full
def test_inspect_reads_samples(export: Exported, python: Path) -> None:
    file = export("inspect")
    found, written = read(python, "inspect", file), lines(file)
    assert [each["id"] for each in found] == [each["id"] for each in written]
    for sample, line in zip(found, written, strict=True):
        assert (sample["target"], sample["metadata"]) == (line["target"], line["metadata"])
        for message, source in zip(sample["input"], line["input"], strict=True):
            assert message["role"] == source["role"]
            calls = [(call["id"], call["function"], call["arguments"]) for call in message.get("tool_calls", ())]
            assert calls == [(c["id"], c["function"], c["arguments"]) for c in source.get("tool_calls", ())]
            if isinstance(source["content"], str):
                assert message["content"] == source["content"]
            else:
                parts = [part.get("text", part.get("image")) for part in message["content"]]
                assert parts == [part.get("text", part.get("image")) for part in source["content"]]


@pytest.mark.full
def test_datasets_reads_rows(export: Exported, python: Path) -> None:
    file = export("hf")
    assert read(python, "hf", file) == parquet.read_table(io.BytesIO(file.read_bytes())).to_pylist()


def test_openai_takes_the_messages(export: Exported) -> None:
    """By the types of its library, which say what a chat request and a line of fine-tuning data hold.

    They allow no tool result without a call, which some agents record (docs/sessions.md).
    """
    from openai.types.chat import ChatCompletionMessageParam

    of_messages = TypeAdapter(list[ChatCompletionMessageParam])
    for line in lines(export("openai")):
        assert list(line) == ["messages"]
        messages = [each for each in line["messages"] if each["role"] != "tool" or "tool_call_id" in each]
        of_messages.validate_python(messages)


@pytest.mark.full
@pytest.mark.grading
@pytest.mark.skipif(
    (sys.platform, platform.machine()) != ("linux", "x86_64"), reason="promptfoo is installed for Linux on x86-64 alone"
)
def test_promptfoo_asks_what_was_asked(
    export: Exported, sessions: list[LabelledSession], toolchain: Path, tmp_path: Path
) -> None:
    """A provider that says its prompt again: what arrives there is the request to the letter, and the whole chat."""
    node = locate_toolchain(toolchain).node
    packages = asyncio.run(install_packages(CONSUMERS, toolchain, node, ["--omit=optional"]))
    (tmp_path / "promptfooconfig.yaml").write_text(
        f"prompts: ['{{{{input}}}}', '{{{{messages}}}}']\nproviders: [echo]\ntests: file://{export('promptfoo').name}\n"
    )
    offline = ("DISABLE_TELEMETRY", "DISABLE_UPDATE", "DISABLE_REMOTE_GENERATION", "DISABLE_SHARING")
    env = clean_environment(HOME=str(tmp_path), PATH=f"{node.bin_dir}:/usr/bin:/bin", SECRET="not to be rendered")
    env |= {f"PROMPTFOO_{name}": "1" for name in offline}
    words = ["eval", "--no-cache", "--no-write", "--no-table", "--no-progress-bar", "-o", "out.json"]
    done = subprocess.run(
        [node.executable, packages / "promptfoo" / "dist" / "src" / "entrypoint.js", *words],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=patience.seconds(300),
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "out.json").read_bytes())["results"]["results"]
    outputs = {(each["testIdx"], each["promptIdx"]): each["response"]["output"] for each in found}
    asked = [(messages, turn) for each in sessions if (turn := last_turn(messages := list(each.read_messages())))]
    assert len(outputs) == 2 * len(asked)
    for number, (messages, turn) in enumerate(asked):
        assert outputs[number, 0] == turn.request
        chat = outputs[number, 1]
        assert (json.loads(chat) if isinstance(chat, str) else chat) == [m.to_chat() for m in messages[: turn.end]]
