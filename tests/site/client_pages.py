"""Small pages as the templates write them: what the client is tested with, alone."""

from __future__ import annotations

import base64
import json
import zlib
from html import escape
from typing import Any

HOSTILE = '<img src=x onerror="alert(1)"></script><script>alert(2)</script>{{7*7}} ‮evil'
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'"
)
MODELS = [  # name, provider, tags, rate, low, high, cost, whether on the frontier
    ("claude-opus-5", "anthropic", "reasoning vision", 0.91, 0.84, 0.95, 0.212, True),
    ("claude-haiku-5", "anthropic", "vision", 0.72, 0.63, 0.80, 0.018, True),
    ("gpt-6", "openai", "reasoning vision", 0.89, 0.81, 0.94, 0.304, False),
    ("gpt-6-mini", "openai", "reasoning", 0.74, 0.65, 0.82, 0.024, True),
    ("gpt-5.5-nano", "openai", "", 0.41, 0.32, 0.51, 0.0021, True),
    ("gemini-4-pro", "google", "vision", 0.84, 0.76, 0.90, 0.151, True),
    ("gemini-4-flash", "google", "vision", 0.66, 0.57, 0.75, 0.011, True),
    ("grok-5", "xai", "reasoning", 0.78, 0.69, 0.85, 0.19, False),
    ("llama-5-70b-instruct", "meta", "open", 0.55, 0.45, 0.64, 0.0085, True),
    ("a-model-with-a-very-long-name-that-nobody-can-remember-20260931", "zai", "open", 0.61, 0.51, 0.7, 0.04, False),
    ("deepseek-v5", "openrouter", "open reasoning", 0.69, 0.6, 0.77, 0.0132, True),
    ("never-run", "meta", "open", None, None, None, None, False),
]


def page(title: str, main: str, *, charts: bool = False, live: int | None = None, css: str = "assets") -> str:
    """A whole document around the content of `main`."""
    script = f'<script defer src="{css}/charts.js"></script>' if charts else ""
    names = ("Leaderboard", "Matrix", "Runs", "Guidelines", "Compare", "Reports")
    current = ' aria-current="page"'
    nav = "".join(f'<a href="{n.lower()}.html"{current if n == title else ""}>{n}</a>' for n in names)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title} - Convex evals</title>
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="{css}/icon.svg"><link rel="stylesheet" href="{css}/pages.css">
<script defer src="{css}/pages.js"></script>{script}</head>
<body{f' data-live="{live}"' if live else ""}>
<a class="skip" href="#main">Skip to content</a>
<header class="top"><a class="brand" href="index.html">Convex evals</a><nav aria-label="Pages">{nav}</nav></header>
<main id="main"><nav class="crumbs" aria-label="Breadcrumb"><ol><li><a href="index.html">Home</a></li><li>{title}</li>
</ol></nav><h1>{title}</h1>{main}</main>
<footer>Made from commit 0123abc.</footer></body></html>
"""


def chart(kind: str, caption: str, data: dict[str, Any]) -> str:
    text = json.dumps(data).replace("<", "\\u003c")
    return (
        f'<figure class="chart" data-chart="{kind}"><figcaption>{escape(caption)}</figcaption>'
        f'<script type="application/json">{text}</script>'
        "<details><summary>As a table</summary><table class=data><tr><td>1</td></tr></table></details></figure>"
    )


def bar(rate: float, low: float, high: float) -> str:
    label = f"{rate:.0%}, 95 % interval {low:.0%} to {high:.0%}"
    ends = "".join(f'<line class="cap" x1="{x * 100}" x2="{x * 100}" y1="3" y2="9"/>' for x in (low, high))
    return (
        f'<svg class="bar" viewBox="0 0 100 12" width="120" height="14" role="img" aria-label="{label}">'
        f'<rect class="track" width="100" height="12"/><rect class="fill" width="{rate * 100}" height="12"/>'
        f'<line class="whisker" x1="{low * 100}" x2="{high * 100}" y1="6" y2="6"/>{ends}</svg>'
    )


def row(name: str, provider: str, tags: str, rate: float | None, low: Any, high: Any, cost: float | None) -> str:
    shown = "–" if rate is None else f"{rate:.0%} {bar(rate, low, high)}"
    price = "" if cost is None else f"${cost:.4f}"
    return (
        f'<tr data-provider="{provider}" data-tags="{tags}">'
        f'<th scope="row"><a href="{escape(name)}.html">{escape(name)}</a></th><td>{provider}</td>'
        f'<td class="n" data-value="{"" if rate is None else rate}">{shown}</td><td class="n">{price}</td></tr>'
    )


def table(table_id: str = "models", rows: str = "") -> str:
    rows = rows or "".join(row(*model[:7]) for model in MODELS)
    options = "".join(f"<option>{name}</option>" for name in sorted({model[1] for model in MODELS}))
    return f"""<form class="filters" data-for="{table_id}" hidden>
<input type="search" name="q" aria-label="Search models" placeholder="Search">
<select name="provider" aria-label="Provider"><option value="">All providers</option>{options}</select>
<select name="tags" aria-label="Tag">
<option value="">All tags</option><option>open</option><option>vision</option></select>
<output data-count></output> <button type="reset">Reset</button></form>
<div class="scroll" role="region" tabindex="0" aria-label="Models"><table class="data" id="{table_id}" data-sortable>
<thead><tr><th scope="col" data-sort="text" data-name="model">Model</th><th scope="col" data-sort="text">Provider</th>
<th scope="col" class="n" data-sort="number" data-name="rate" aria-sort="descending">Pass rate</th>
<th scope="col" class="n" data-sort="number" data-name="cost">Cost per eval</th></tr></thead>
<tbody>{rows}</tbody></table></div>"""


def scatter(more: list[dict[str, Any]] | None = None) -> str:
    points = [
        {"label": m[0], "href": f"{m[0]}.html", "x": m[6], "y": m[3], "low": m[4], "high": m[5], "frontier": m[7]}
        for m in MODELS
        if m[3] is not None
    ]
    axes = {"x": {"label": "cost per eval", "unit": "usd"}, "y": {"label": "pass rate"}}
    return chart("scatter", "Pass rate and cost of each model", {**axes, "points": points + (more or [])})


def leaderboard() -> str:
    tiles = "".join(
        f'<div class="tile"><b>{b}</b><span>{s}</span></div>'
        for b, s in [("12", "models"), ("40", "evals"), ("91%", "best pass rate"), ("$31.20", "spent")]
    )
    return page(
        "Leaderboard",
        f'<p class="lead">claude-opus-5 is ahead with 91% of 40 evals, which is not surely more than gpt-6.</p>'
        f'<nav class="switch" aria-label="Guidelines"><a href="?g=1" aria-current="true">With guidelines</a>'
        f'<a href="?g=0">Without</a></nav><div class="tiles">{tiles}</div>'
        f'<section class="card"><h2>Models</h2>{table()}<p class="note">95 % intervals of Wilson.</p></section>'
        f'<section class="card"><h2>Cost</h2>{scatter()}</section>',
        charts=True,
    )


def matrix() -> str:
    heads = "".join(
        f'<th scope="col" class="model n" data-sort="number"><a href="{m[0]}.html"><span>{m[0]}</span></a></th>'
        for m in MODELS
    )
    body = ""
    for at in range(24):
        cells = "".join(
            f'<td class="heat {"hx" if (at + i) % 13 == 12 else f"h{(at * 7 + i * 3) % 11}"}" '
            f'data-value="{(at * 7 + i * 3) % 11}">'
            f'<a href="t.html">{"–" if (at + i) % 13 == 12 else f"{(at * 7 + i * 3) % 11}/10"}</a></td>'
            for i in range(len(MODELS))
        )
        name = f"00{at}-some_eval_name_{'x' * at}"
        body += f'<tr><th scope="row"><a href="{name}.html">{name}</a></th>{cells}</tr>'
    return page(
        "Matrix",
        '<div class="scroll" role="region" tabindex="0" aria-label="Matrix"><table class="data matrix" id="matrix" '
        f'data-sortable><thead><tr><th scope="col" data-sort="text">Eval</th>{heads}</tr></thead><tbody>{body}</tbody>'
        "</table></div>",
    )


def packed(text: str) -> str:
    data = base64.b64encode(zlib.compress(text.encode())).decode()
    return (
        f'<div class="packed" data-deflate="{data}" data-label="Show the reply">'
        "<noscript>Needs scripts.</noscript></div>"
    )


def trial() -> str:
    code = (
        '<span class="line" id="L1"><i class="k">import</i> { query } <i class="k">from</i> '
        '<i class="s">"./_generated/server"</i>;\n</span>'
        '<span class="line" id="L2"><i class="c">// a comment</i>\n</span>'
        '<span class="line" id="L3"><i class="k">export const</i> <i class="f">list</i> = query({ args: '
        '{ n: v.<i class="f">number</i>() }, handler: (ctx: <i class="t">QueryCtx</i>) =&gt; '
        '<i class="n">42</i> });\n</span>'
    )
    diff = (
        '<span class="file">convex/a.ts\n</span><span class="hunk">@@ -1,3 +1,3 @@\n</span> context\n'
        '<span class="del">-old line\n</span><span class="add">+new line\n</span> context'
    )
    marks = (
        "".join(
            f'<dt>{step}</dt><dd><span class="mark {o}">{t}</span></dd>'
            for step, o, t in [
                ("deploy", "passed", "✓ passed"),
                ("tests", "failed", "✗ failed"),
                ("tsc", "skipped", "– skipped"),
                ("install", "unscored", "? unscored"),
            ]
        )
        .replace("<dt>", "<div><dt>")
        .replace("</dd>", "</dd></div>")
    )
    trials = "".join(
        f'<article class="trial" id="trial-{n}"><h3>Trial {n}</h3><dl class="facts">{marks}</dl>'
        f'<pre class="message" tabindex="0">AssertionError: expected {n} to equal 2\n  at {"x" * 200}</pre>'
        '<section class="file"><h4><code>convex/schema.ts</code></h4>'
        f'<pre class="code" tabindex="0"><code>{code}</code></pre>'
        f"</section>{packed(HOSTILE * 3)}</article>"
        for n in (1, 2)
    )
    links = (
        '<a class="button" data-key="p" href="p.html">Previous eval</a> '
        '<a class="button" data-key="n" href="n.html">Next eval</a> <a data-key="u" href="up.html">Up</a>'
    )
    return page(
        "Trials",
        '<div class="banner warn" role="status">The guidelines have changed since.</div>'
        '<div class="banner error" role="status">One trial could not be scored.</div>'
        f'<p>{links} <span class="chip">reasoning</span> <span class="chip">{escape(HOSTILE)}</span></p>'
        f'<section class="card"><h2>Trials</h2>{trials}</section>'
        '<div class="columns"><section class="card"><h2>Changes</h2>'
        f'<pre class="diff" tabindex="0"><code>{diff}</code></pre></section>'
        '<section class="card"><h2>Side by side</h2><table class="sides"><tr><td class="del">a <del>b</del> c</td>'
        '<td class="add">a <ins>d</ins> c</td></tr></table></section></div>'
        '<section class="card"><h2>Notes</h2><form class="write" method="post"><label for="note">Note</label>'
        '<textarea id="note" name="note"></textarea><button>Save</button></form></section>'
        '<section class="card"><div class="prose"><h2>Report</h2>'
        '<p>Some <code>code</code> and <a href="x.html">a link</a>.</p>'
        "<blockquote>Quoted.</blockquote><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
        "</div></section><details id=more><summary>More</summary><p>Folded.</p></details>",
    )


def charts(hostile: bool = False) -> str:
    name = HOSTILE if hostile else "gpt-6"
    series = [
        {
            "name": f"{name} {s}",
            "points": [
                {
                    "x": f"2026-{5 + i // 2:02}-{1 + 14 * (i % 2):02}",
                    "n": i % 3 % 2,
                    "y": (y := 0.5 + 0.04 * i + 0.05 * s - 0.03 * (i * (s + 2) % 3)),
                    "low": y - 0.08,
                    "high": y + 0.06,
                    "label": f"{name} run {i}",
                    "href": "javascript:alert(3)" if hostile else f"run-{i}.html",
                }
                for i in range(8)
            ],
        }
        for s in range(3)
    ]
    changes = [
        {"x": "2026-06-10", "label": f"{name} guidelines a1b2c3"},
        {"x": "2026-06-14", "label": "shorter"},
        {"x": "2026-08-02", "label": "guidelines d4e5f6"},
    ]
    rows = [
        {"label": f"{name} {'long ' * i}", "value": 0.03 * i - 0.06, "low": 0.03 * i - 0.13, "high": 0.03 * i + 0.01}
        | {"tone": "bad" if i < 1 else "good" if i > 4 else "unsure"}
        for i in range(7)
    ]
    more = [{"label": HOSTILE, "href": "javascript:alert(4)", "x": 0.1, "y": 0.3, "frontier": True}] if hostile else []
    history = {"y": {"label": "pass rate"}, "series": series, "marks": changes}
    forest = {"x": {"label": "difference of pass rates"}, "rows": rows}
    cards = {
        "History": chart("history", "Pass rate over time", history),
        "Difference": chart("forest", "Differences by category", forest),
        "Cost": scatter(more),
    }
    main = "".join(f'<section class="card"><h2>{title}</h2>{drawn}</section>' for title, drawn in cards.items())
    return page("Compare", main, charts=True)
