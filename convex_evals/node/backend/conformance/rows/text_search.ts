/** Text search. */

import { moduleFile, type Expected, type Row } from "../harness.ts";
import { SCHEMA, rowOf } from "../search_row.ts";

const DOCS = "https://docs.convex.dev/search/text-search";
const SEARCH = "get-convex/convex-backend crates/search/src/lib.rs";
const CONSTANTS = "get-convex/convex-backend crates/search/src/constants.rs";
const REGISTRY = "get-convex/convex-backend crates/indexing/src/index_registry.rs";
const texts = (...values: readonly string[]): string => JSON.stringify(values.map((text) => ({ text })));
const search = (text: string, rest = "", end = ".collect()"): string =>
  `return (await ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", ${JSON.stringify(text)})${rest})${end}).map((d: any) => d.text);`;
const text = (id: string, rule: string, citation: string, documents: string, body: string, expected: Expected): Row =>
  rowOf("query", id, rule, citation, documents, body, expected);

const textRows: readonly Row[] = [
  text(
    "any-word",
    "A document matches when it has one of the words.",
    `${DOCS}#running-search-queries`,
    texts("red fox", "blue bird", "green tree"),
    search("fox bird x"),
    { value: ["blue bird", "red fox"] },
  ),
  text(
    "relevance",
    "Documents with rarer and more of the words come first.",
    `${DOCS}#search-behavior`,
    texts("the the the dog", "the cat", "the dog and the cat", "the bird"),
    search("cat dog the", "", ".take(2)"),
    { value: ["the dog and the cat", "the cat"] },
  ),
  text(
    "frequency",
    "A word counts more when it is there more often.",
    SEARCH,
    texts("a b", "a a a a", "a c", "a a", "a a a", "a"),
    search("a"),
    { value: ["a a a a", "a a a", "a a", "a", "a c", "a b"] },
  ),
  text(
    "short-documents",
    "Among equals the shorter document comes first, then the newer.",
    SEARCH,
    texts("apple pie with cream", "apple", "apple pie", "apple tart"),
    search("apple"),
    { value: ["apple", "apple tart", "apple pie", "apple pie with cream"] },
  ),
  text(
    "prefix",
    "The last word may be incomplete.",
    `${DOCS}#search-behavior`,
    texts("rabbit hole", "a robot", "send request"),
    search("send r"),
    { value: ["send request", "a robot", "rabbit hole"] },
  ),
  text(
    "prefix-last-only",
    "Only the last word may be incomplete.",
    `${DOCS}#search-behavior`,
    texts("rabbit hole", "send request"),
    search("rab send"),
    { value: ["send request"] },
  ),
  text(
    "exact-before-prefix",
    "A whole word counts more than the beginning of one.",
    SEARCH,
    texts("cart", "car", "carpet"),
    search("car"),
    { value: ["car", "carpet", "cart"] },
  ),
  text("no-typos", "Words with typos do not match.", `${DOCS}#search-behavior`, texts("snake"), search("stake"), {
    value: [],
  }),
  text(
    "case-and-punctuation",
    "Words are split at what is no letter or digit, and case does not matter.",
    CONSTANTS,
    texts("Hello, World!", "it's 2024-05"),
    search("WORLD 05"),
    { value: ["Hello, World!", "it's 2024-05"] },
  ),
  text(
    "unicode",
    "Letters of all alphabets are letters.",
    CONSTANTS,
    texts("Größe und Maß", "ключ на двері"),
    search("größe ключ"),
    { value: ["ключ на двері", "Größe und Maß"] },
  ),
  text("empty", "An empty search finds nothing.", SEARCH, texts("a"), search(" ...!"), { value: [] }),
  text(
    "long-words",
    "Words of 32 bytes and more are not indexed.",
    CONSTANTS,
    texts("x".repeat(32), "y".repeat(31)),
    `return [(await ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", "${"x".repeat(32)}")).collect()).length, (await ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", "${"y".repeat(31)}")).collect()).length];`,
    { value: [0, 1] },
  ),
  text(
    "sixteen-words",
    "The first 16 words of a search count.",
    CONSTANTS,
    texts("seventeenth", "sixteenth"),
    search("a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12 a13 a14 a15 sixteenth seventeenth"),
    { value: ["sixteenth"] },
  ),
  text(
    "not-a-string",
    "Documents whose field is no string are not found.",
    SEARCH,
    '[{ text: 5 }, {}, { text: ["five"] }, { text: "5" }]',
    search("5"),
    { value: ["5"] },
  ),
  text(
    "filter",
    "Filters are exact, also on nested and missing fields.",
    `${DOCS}#defining-search-indexes`,
    '[{ text: "fox 1", tag: "a", o: { kind: 1 } }, { text: "fox 2", tag: "a" }, { text: "fox 3", tag: "b", o: { kind: 1 } }]',
    'const find = async (f: any) => (await ctx.db.query("t").withSearchIndex("words", (q: any) => f(q.search("text", "fox"))).collect()).map((d: any) => d.text); return [await find((q: any) => q.eq("tag", "a").eq("o.kind", 1)), await find((q: any) => q.eq("o.kind", undefined))];',
    { value: [["fox 1"], ["fox 2"]] },
  ),
  text(
    "post-filter",
    "Results can be filtered further.",
    DOCS,
    '[{ text: "fox", n: 1 }, { text: "fox fox", n: 2 }]',
    'return (await ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", "fox")).filter((q: any) => q.eq(q.field("n"), 1)).collect()).map((d: any) => d.text);',
    { value: ["fox"] },
  ),
  text(
    "own-table",
    "Only the table of the index is searched.",
    DOCS,
    texts("fox"),
    'return (await ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", "fox")).first()).text;',
    { value: "fox" },
  ),
  text(
    "order",
    "Search results have no other order than relevance.",
    "npm convex/src/server/impl/query_impl.ts",
    "[]",
    'await (ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", "x")) as any).order("desc").collect();',
    { rejects: "Search queries must always be in relevance order. Can not set order manually." },
  ),
  text(
    "wrong-search-field",
    "Only the search field is searched.",
    SEARCH,
    "[]",
    'await ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("tag", "x")).collect();',
    {
      rejects:
        'Search query against t.words contains a search filter against "tag", which doesn\'t match the indexed `searchField` "text".',
    },
  ),
  text(
    "wrong-filter-field",
    "Only filter fields are filtered.",
    SEARCH,
    "[]",
    'await ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", "x").eq("n", 1)).collect();',
    {
      rejects:
        'Search query against t.words contains an equality filter on "n" but that field isn\'t indexed for filtering in `filterFields`.',
    },
  ),
  text(
    "too-many-filters",
    "A search has at most 8 filters.",
    CONSTANTS,
    "[]",
    `await ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", "x")${'.eq("tag", "a")'.repeat(9)}).collect();`,
    { rejects: "Search query against t.words has too many filter conditions. Max: 8 Actual: 9" },
  ),
  text(
    "unknown-index",
    "A search index that does not exist cannot be searched.",
    REGISTRY,
    "[]",
    'await ctx.db.query("t").withSearchIndex("nope", (q: any) => q.search("text", "x")).collect();',
    { rejects: "Index t.nope not found." },
  ),
  text(
    "staged-index",
    "A staged search index cannot be searched.",
    REGISTRY,
    "[]",
    'await ctx.db.query("t").withSearchIndex("later", (q: any) => q.search("title", "x")).collect();',
    { rejects: "Index t.later is currently staged and not available to query until it is enabled." },
  ),
  text(
    "database-index",
    "A database index cannot be searched.",
    SEARCH,
    "[]",
    'await ctx.db.query("t").withSearchIndex("by_tag", (q: any) => q.search("text", "x")).collect();',
    { rejects: "Index t.by_tag is not a search index" },
  ),
  text(
    "too-many-results",
    "A search returns at most 1024 documents; reading on is refused.",
    "get-convex/convex-backend crates/database/src/query/search_query.rs",
    'Array(1030).fill({ text: "fox" })',
    search("fox"),
    {
      rejects:
        "Search query scanned too many documents (fetched 1024). Consider using a smaller limit, paginating the query, or using a filter field to limit the number of documents pulled from the search index.",
    },
  ),
  text(
    "many-results",
    "Of many matches the best can be taken.",
    DOCS,
    'Array(1030).fill({ text: "fox" })',
    search("fox", "", ".take(1000)").replace(".map((d: any) => d.text)", ".length"),
    { value: 1000 },
  ),
  {
    id: "search/pages",
    rule: "Pages of a search continue in the order of relevance.",
    citation: `${DOCS}#retrieving-results-and-paginating`,
    files: {
      ...SCHEMA,
      ...moduleFile(
        "m",
        `export const seed = mutation({ args: {}, handler: async (ctx) => { for (const document of ${texts("fox", "fox den", "fox fox fox", "a b c d fox")}) await ctx.db.insert("t", document); } });\nexport const page = query({ args: { cursor: v.union(v.string(), v.null()) }, handler: async (ctx, { cursor }) => { const r = await ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", "fox")).paginate({ numItems: 2, cursor }); return { cursor: r.continueCursor, texts: r.page.map((d: any) => d.text) }; } });\nexport const texts = query({ args: { cursor: v.string() }, handler: async (ctx, { cursor }) => (await ctx.db.query("t").withSearchIndex("words", (q: any) => q.search("text", "fox")).paginate({ numItems: 2, cursor })).page.map((d: any) => d.text) });`,
      ),
    },
    steps: [
      { call: "mutation", path: "m:seed" },
      { call: "query", path: "m:page", args: { cursor: null } },
      { call: "query", path: "m:texts", args: (results) => ({ cursor: (results[1] as { cursor: string }).cursor }) },
    ],
    expected: { value: ["fox den", "a b c d fox"] },
  },
];

export const rows: readonly Row[] = [...textRows];
