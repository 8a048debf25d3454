"""Projects that take memory which no process is seen to have, or have the bundler and the type checker take it."""

from __future__ import annotations

import json
from collections.abc import Callable

from convex_evals.records.eval_config import Timeouts
from tests.attacks.making import (
    FUNCTION,
    PLAIN,
    PROGRAM,
    TIMEOUTS,
    Attack,
    Constants,
    Files,
    in_a_function,
    in_a_program,
    project,
)

_LONG = TIMEOUTS.model_copy(update={"tests": 24.0})
# Name of the code below `kernel/`: what it takes, and from where.
_CODE: dict[str, tuple[str, str]] = {
    "page_tables": ("page tables of memory that is only read", "both"),
    "page_tables_in_many": ("page tables of many processes", "program"),
    "page_tables_of_files": ("page tables of one file, mapped over and over", "program"),
    "sockets_unix": ("unread data in pairs of Unix sockets", "both"),
    "sockets_tcp": ("unread data in TCP connections", "program"),
    "sockets_never_accepted": ("unread data in connections without a descriptor in any process", "program"),
    "sockets_in_flight": ("full sockets sent over sockets", "program"),
    "sockets_udp": ("unread datagrams", "program"),
    "pages_in_sockets": ("pages of files held by single bytes in sockets (`sendfile`)", "program"),
    "pipes_of_huge_pages": ("huge pages held by single bytes in pipes (`vmsplice`)", "both"),
    "inodes": ("empty files", "both"),
    "inodes_of_folders": ("empty folders", "program"),
    "inodes_of_links": ("symbolic links", "program"),
    "epoll": ("epoll instances that all watch each other", "program"),
    "landlock_rules": ("unused Landlock rulesets", "program"),
    "terminals": ("all terminals of the machine", "program"),
    "threads": ("thread stacks", "program"),
}


def _in_kernel_memory() -> list[Attack]:
    found = []
    for name, (what, places) in _CODE.items():
        for place, eval_id, make in (("function", FUNCTION, in_a_function), ("program", PROGRAM, in_a_program)):
            if places in ("both", place):
                shown = f"{what}, from a {place}" if places == "both" else what
                again = place == "function" or name.count("_") > 2
                files = make(f"kernel/{name}")
                found.append(Attack(f"{name}-{place}", shown, eval_id, files, True, _LONG, again=again))
    return found


def _doubling(kind: str, steps: int, first: str, double: Callable[[str], str]) -> str:
    members = [f'  a0 = "{first}",', *(f"  a{n + 1} = {double(f'a{n}')}," for n in range(steps))]
    return "\n".join([f"export {kind} Many {{", *members, "}"])


def _enum(c: Constants) -> Files:
    return project(f"{PLAIN}{_doubling('enum', 17, 'x' * 16_000, lambda a: f'{a} + {a}')}\n")


def _enum_of_templates(c: Constants) -> Files:
    body = _doubling("const enum", 17, "x" * 16_000, lambda a: f"`${{{a}}}${{{a}}}`")
    return project(f"{PLAIN}{body}\nexport const used = Many.a17;\n")


def _enum_of_many_files(c: Constants) -> Files:
    """Each file doubles what the one before has."""
    more = {"convex/e0.ts": f'export enum E {{ a = "{"x" * 64_000}" }}\n'}
    for n in range(15):
        source = f'import {{ E as Before }} from "./e{n}";\nexport enum E {{ a = Before.a + Before.a }}\n'
        more[f"convex/e{n + 1}.ts"] = source
    return project(f'{PLAIN}import {{ E }} from "./e15";\nexport const used = E.a;\n', more)


def _types(c: Constants) -> Files:
    """Unions just below the size that the compiler refuses."""
    digit = 'type D = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";\n'
    lines = [f"export const v{n}: `k{n}${{D}}${{D}}${{D}}${{D}}` | 1 = 1;" for n in range(3000)]
    return project(f"{PLAIN}{digit}{chr(10).join(lines)}\n")


def _tuples(c: Constants) -> Files:
    many = "\n".join(f"export const t{n}: Grow<[{n}], []> | 1 = 1;" for n in range(2000))
    grow = 'type Grow<S, N extends unknown[]> = N["length"] extends 900 ? N : Grow<S, [...N, { n: N; s: S }]>;\n'
    return project(f"{PLAIN}{grow}{many}\n")


def _array(c: Constants) -> Files:
    rows = ",\n".join(
        f'{{ a{n % 997}: [{n}, "{n}", {{ b: {n} }}], c: [{n % 7}, {{ d{n % 89}: {n} }}] }}' for n in range(12_000)
    )
    return project(f"{PLAIN}export const table = [\n{rows}\n] as const;\n")


def _json(c: Constants) -> Files:
    data = json.dumps([{f"k{n}": [n, {"a": n}]} for n in range(24_000)])
    return project(
        f'import table from "./table.json";\n{PLAIN}export const first = table[0];\n', {"convex/table.json": data}
    )


def _source_map(c: Constants) -> Files:
    mappings = ";".join("AAAA,CAAC,CAAC,CAAC,CAAC" for _ in range(20_000))
    found = json.dumps({"version": 3, "sources": ["a.ts"], "sourcesContent": ["\n" * 200_000], "mappings": mappings})
    more = {
        "lib/mapped.js": "export const one = 1;\n//# sourceMappingURL=mapped.js.map\n",
        "lib/mapped.d.ts": "export const one: number;\n",
        "lib/mapped.js.map": found,
    }
    return project(f'import {{ one }} from "../lib/mapped.js";\n{PLAIN}export const two = one;\n', more)


_BOMBS: dict[str, tuple[str, Callable[[Constants], Files]]] = {
    "enum_bomb": ("an enum of 17 lines, each of which doubles the bundler's memory", _enum),
    "enum_of_templates_bomb": ("a constant enum of templates that double in size", _enum_of_templates),
    "enum_of_many_files_bomb": ("enums in many files, each twice the size of the previous one", _enum_of_many_files),
    "union_bomb": ("thousands of types with ten thousand members each", _types),
    "tuple_bomb": ("thousands of types that grow by recursion", _tuples),
    "array_bomb": ("a constant array of 12,000 objects", _array),
    "json_bomb": ("an import of a megabyte of JSON", _json),
    "source_map_bomb": ("a source map of almost a megabyte", _source_map),
}
_PATIENT = Timeouts(install=60, deploy=20, tsc=20, eslint=20, tests=16)

KERNEL_MEMORY: tuple[Attack, ...] = (
    *_in_kernel_memory(),
    *(Attack(name, what, FUNCTION, make, True, _PATIENT, any_level=True) for name, (what, make) in _BOMBS.items()),
)
