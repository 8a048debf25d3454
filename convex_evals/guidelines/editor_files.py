"""The files that editors and coding agents read: where each stands, its front matter, and how long it may be.

Each limit is that of the tool's documentation, on the page that is named with it. A `strict` limit is enforced by the
tool, which cuts off or ignores the rest; others are what its makers advise. `cli guidelines build` keeps both.
"""

from __future__ import annotations

from dataclasses import dataclass

# Patterns with commas between them and no quotes, as Cursor and Windsurf document them. The first one begins with a
# letter: to YAML, `**/` would be an alias.
_GLOBS = "convex/**/*.ts,**/convex/**/*.ts"


@dataclass(frozen=True)
class SizeLimit:
    """How long one file may be."""

    most: int
    unit: str  # bytes, characters or lines
    strict: bool
    page: str  # that says so

    def size(self, text: str) -> int:
        """Of `text`, in the limit's unit."""
        if self.unit == "lines":
            return text.count("\n")
        # Editors are JavaScript, where a character beyond the basic plane counts twice.
        return len(text.encode()) if self.unit == "bytes" else len(text.encode("utf-16-le")) // 2


@dataclass(frozen=True)
class EditorFile:
    """One file that a tool reads."""

    tool: str
    path: str  # in a project; {name} is that of the guidelines
    limit: SizeLimit | None
    front_matter: tuple[str, ...] = ()  # lines of YAML
    is_index: bool = False  # a list of links instead of the rules


EDITOR_FILES = (
    # "Keep rules under 500 lines". The description is for the list of rules; the globs decide.
    EditorFile(
        "cursor",
        ".cursor/rules/{name}.mdc",
        SizeLimit(499, "lines", False, "https://cursor.com/docs/rules"),
        ("description: How to write Convex functions, schemas and clients", f"globs: {_GLOBS}", "alwaysApply: false"),
    ),
    # Codex cuts off what exceeds `project_doc_max_bytes`, by default 32 KiB. The format (agents.md) has no limit.
    EditorFile(
        "agents",
        "AGENTS.md",
        SizeLimit(32 * 1024, "bytes", True, "https://developers.openai.com/codex/guides/agents-md"),
    ),
    # "Target under 200 lines per CLAUDE.md file. Longer files consume more context and reduce adherence."
    EditorFile("claude", "CLAUDE.md", SizeLimit(199, "lines", False, "https://code.claude.com/docs/en/memory")),
    # "Limit any single instruction file to a maximum of about 1,000 lines."
    EditorFile(
        "copilot",
        ".github/copilot-instructions.md",
        SizeLimit(1_000, "lines", False, "https://docs.github.com/en/copilot/tutorials/customize-code-review"),
    ),
    # "Workspace rule files are limited to 12,000 characters each."
    EditorFile(
        "windsurf",
        ".windsurf/rules/{name}.md",
        SizeLimit(12_000, "characters", True, "https://docs.devin.ai/desktop/cascade/memories"),
        ("trigger: glob", f"globs: {_GLOBS}"),
    ),
    # https://llmstxt.org: a title, a quoted summary, and lists of links. It has no limit.
    EditorFile("llms", "llms.txt", None, is_index=True),
    EditorFile("llms", "llms-full.txt", None),
)
TOOLS = tuple(dict.fromkeys(file.tool for file in EDITOR_FILES))
