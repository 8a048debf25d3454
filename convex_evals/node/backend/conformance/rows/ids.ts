/** Ids: their form, and what belongs to which table. */

import type { Row } from "../harness.ts";
import { mutationRow } from "../mutation_row.ts";

const SYSCALLS = "get-convex/convex-backend crates/isolate/src/environment/udf/async_syscall.rs";
const IDS = "get-convex/convex-backend crates/isolate/src/environment/helpers/mod.rs";
const TRANSACTION = "get-convex/convex-backend crates/database/src/transaction.rs";

const ids: readonly Row[] = [
  mutationRow(
    "id-form",
    "Ids are 32 lower-case letters and digits.",
    "https://docs.convex.dev/database/document-ids",
    'return /^[0-9a-z]{31,37}$/.test(await ctx.db.insert("t", {}));',
    { value: true },
  ),
  mutationRow(
    "get-deleted",
    "db.get of a deleted document is null.",
    "https://docs.convex.dev/database/reading-data/#read-a-single-document",
    'const id = await ctx.db.insert("t", {}); await ctx.db.delete(id); return await ctx.db.get(id);',
    { value: null },
  ),
  mutationRow(
    "get-malformed",
    "db.get refuses what is no id.",
    "get-convex/convex-backend crates/value/src/id_v6.rs",
    'return await ctx.db.get("nonsense");',
    { rejects: "Invalid argument `id` for `db.get`: Unable to decode ID: Invalid ID length 8" },
  ),
  mutationRow(
    "delete-malformed",
    "db.delete refuses what is no id.",
    "get-convex/convex-backend crates/value/src/id_v6.rs",
    'await ctx.db.delete("x");',
    { rejects: "Invalid argument `id` for `db.delete`: Unable to decode ID: Invalid ID length 1" },
  ),
  mutationRow(
    "get-with-table",
    "db.get may be told the table.",
    "https://docs.convex.dev/database/reading-data/#read-a-single-document",
    'const id = await ctx.db.insert("other", { n: 1 }); return (await ctx.db.get("other", id)).n;',
    { value: 1 },
  ),
  mutationRow(
    "get-other-table",
    "db.get refuses an id of another table than it is told.",
    IDS,
    'const id = await ctx.db.insert("other", { n: 1 }); await ctx.db.get("t", id);',
    { rejects: 'Invalid argument `id` for `db.get`: expected to be an Id<"t">, got Id<"other"> instead.' },
  ),
  mutationRow(
    "patch-other-table",
    "db.patch refuses an id of another table than it is told.",
    IDS,
    'const id = await ctx.db.insert("other", { n: 1 }); await ctx.db.patch("t", id, {});',
    { rejects: 'Invalid argument `id` for `db.patch`: expected to be an Id<"t">, got Id<"other"> instead.' },
  ),
  mutationRow(
    "delete-other-table",
    "db.delete refuses an id of another table than it is told.",
    IDS,
    'const id = await ctx.db.insert("other", { n: 1 }); await ctx.db.delete("t", id);',
    { rejects: 'Invalid argument `id` for `db.delete`: expected to be an Id<"t">, got Id<"other"> instead.' },
  ),
  mutationRow(
    "patch-deleted",
    "A document that is gone cannot be patched.",
    TRANSACTION,
    'const id = await ctx.db.insert("t", {}); await ctx.db.delete(id); await ctx.db.patch(id, {});',
    { rejects: /Update on nonexistent document ID \w+/ },
  ),
  mutationRow(
    "replace-deleted",
    "A document that is gone cannot be replaced.",
    TRANSACTION,
    'const id = await ctx.db.insert("t", {}); await ctx.db.delete(id); await ctx.db.replace(id, {});',
    { rejects: /Replace on nonexistent document ID \w+/ },
  ),
  mutationRow(
    "delete-twice",
    "A document is deleted once.",
    TRANSACTION,
    'const id = await ctx.db.insert("t", {}); await ctx.db.delete(id); await ctx.db.delete(id);',
    { rejects: /Delete on nonexistent document ID \w+/ },
  ),
  mutationRow(
    "normalize",
    "normalizeId returns ids of the table it is asked about, and null otherwise.",
    "https://docs.convex.dev/database/document-ids#serializing-ids",
    'const id = await ctx.db.insert("t", {}); return [ctx.db.normalizeId("t", id) === id, ctx.db.normalizeId("other", id), ctx.db.normalizeId("t", "nonsense"), ctx.db.normalizeId("t", "")];',
    { value: [true, null, null, null] },
  ),
  mutationRow(
    "system-get-user",
    "db.system reads no user tables.",
    SYSCALLS,
    'await ctx.db.system.get(await ctx.db.insert("t", {}));',
    { rejects: "User tables cannot be accessed with db.system." },
  ),
  mutationRow(
    "system-query",
    "System tables are queried through db.system.",
    "https://docs.convex.dev/database/advanced/system-tables",
    'return [await ctx.db.system.query("_storage").collect(), await ctx.db.system.query("_scheduled_functions").collect()];',
    { value: [[], []] },
  ),
  mutationRow(
    "query-system-table",
    "db.query reads no system tables.",
    "npm convex/src/server/impl/database_impl.ts",
    'await ctx.db.query("_storage").collect();',
    { rejects: "System tables can only be accessed from db.system.query()." },
  ),
  mutationRow(
    "system-query-user",
    "db.system.query reads no user tables.",
    "npm convex/src/server/impl/database_impl.ts",
    'await ctx.db.system.query("t").collect();',
    { rejects: "User tables can only be accessed from db.query()." },
  ),
  mutationRow(
    "get-system-id",
    "db.get reads no system documents.",
    SYSCALLS,
    "const id = await ctx.scheduler.runAfter(60000, api.m.run, {}); await ctx.db.get(id);",
    { rejects: "System tables can only be accessed with db.system." },
  ),
  mutationRow(
    "delete-system-id",
    "db.delete deletes no system documents.",
    SYSCALLS,
    "const id = await ctx.scheduler.runAfter(60000, api.m.run, {}); await ctx.db.delete(id);",
    { rejects: "System tables can only be accessed with db.system." },
  ),
];

export const rows: readonly Row[] = [...ids];
