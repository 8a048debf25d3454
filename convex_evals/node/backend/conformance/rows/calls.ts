/** Calling functions: visibility, types, calls of other functions. */

import type { Row } from "../harness.ts";
import { row, query, mutation, action, notFound } from "../calls_app.ts";

const VALIDATION = "get-convex/convex-backend crates/udf/src/validation.rs";
const ACTIONS = "https://docs.convex.dev/functions/actions";
const INTERNAL = "https://docs.convex.dev/functions/internal-functions";

const visibility: readonly Row[] = [
  row("public", "Clients call public functions.", INTERNAL, [query("m:pub")], { value: "public" }),
  row(
    "internal-hidden",
    "Clients cannot call internal functions, nor learn that they exist.",
    INTERNAL,
    [query("m:hidden")],
    notFound("m:hidden"),
  ),
  row(
    "internal-mutation-hidden",
    "Internal mutations are hidden too.",
    INTERNAL,
    [mutation("m:hiddenWrite", { name: "x" })],
    notFound("m:hiddenWrite"),
  ),
  row(
    "internal-action-hidden",
    "Internal actions are hidden too.",
    INTERNAL,
    [action("m:hiddenAct")],
    notFound("m:hiddenAct"),
  ),
  row(
    "internal-admin",
    "The owner may call internal functions.",
    VALIDATION,
    [{ call: "query", path: "m:hidden", as: "admin" }],
    { value: "internal" },
  ),
  row(
    "internal-acting",
    "The owner acting as a user may call them too.",
    VALIDATION,
    [{ call: "query", path: "m:hidden", as: { identity: { subject: "u", issuer: "i" } } }],
    { value: "internal" },
  ),
  row(
    "missing",
    "A function that does not exist is not found.",
    VALIDATION,
    [query("m:nothing")],
    notFound("m:nothing"),
  ),
  row(
    "missing-module",
    "Neither is one of a module that does not exist.",
    VALIDATION,
    [query("nowhere:fn")],
    notFound("nowhere:fn"),
  ),
  row(
    "not-registered",
    "Exports that are no Convex functions are not found.",
    VALIDATION,
    [query("m:plain")],
    notFound("m:plain"),
  ),
  row(
    "default",
    "A path without a name means the default export.",
    "https://docs.convex.dev/functions/query-functions",
    [query("m")],
    { value: "default export" },
  ),
  row(
    "folder",
    "Functions in folders are called with a slash.",
    "https://docs.convex.dev/functions/query-functions",
    [query("dir/deep:fn")],
    { value: "deep" },
  ),
  row(
    "js-suffix",
    "The module may be written with its extension.",
    "get-convex/convex-backend crates/sync_types/src/udf_path.rs",
    [query("dir/deep.js:fn")],
    { value: "deep" },
  ),
  row("type-mutation", "A query is not run as a mutation.", VALIDATION, [mutation("m:pub")], {
    rejects: "Trying to execute m.js:pub as Mutation, but it is defined as Query.",
  }),
  row("type-query", "An action is not run as a query.", VALIDATION, [query("m:act")], {
    rejects: "Trying to execute m.js:act as Query, but it is defined as Action.",
  }),
];

const nested: readonly Row[] = [
  row(
    "action-calls",
    "Actions run queries, mutations and actions, internal ones included.",
    ACTIONS,
    [action("m:viaAction")],
    { value: ["internal", "a", "internal action"] },
  ),
  row(
    "mutation-calls",
    "Mutations run queries and mutations in their own transaction.",
    "https://docs.convex.dev/functions/mutation-functions",
    [mutation("m:viaMutation"), query("m:names")],
    { value: ["nested"] },
  ),
  row(
    "inner-args",
    "Arguments of inner calls are validated.",
    "https://docs.convex.dev/functions/validation",
    [action("m:badInnerArgs")],
    {
      rejects:
        "ArgumentValidationError: Value does not match validator.\nPath: .name\nValue: 7.0\nValidator: v.string()",
    },
  ),
  row("inner-type", "An inner call has to match the type of its function.", VALIDATION, [action("m:wrongInnerType")], {
    rejects: "Trying to execute m.js:hidden as Mutation, but it is defined as Query.",
  }),
  row("inner-missing", "An inner call of nothing fails.", VALIDATION, [action("m:missingInner")], {
    rejects: /Could not find|no such export/,
  }),
  row(
    "inner-rollback",
    "A nested mutation that fails is rolled back alone when its error is caught.",
    "https://docs.convex.dev/functions/mutation-functions",
    [mutation("m:caughtNested"), query("m:names")],
    { value: ["kept"] },
  ),
  row(
    "http-action",
    "HTTP actions run functions too.",
    "https://docs.convex.dev/functions/http-actions",
    [{ request: "/calls", init: { method: "POST", body: '{"name":"h"}' } }],
    { value: { status: 200, body: '["h"]' } },
  ),
  row(
    "http-prefix",
    "Routes by prefix match everything below.",
    "https://docs.convex.dev/functions/http-actions#routing-and-request-handling",
    [{ request: "/pre/a/b" }],
    { value: { status: 201, body: "/pre/a/b" } },
  ),
  row(
    "http-missing",
    "Paths without a route are not found.",
    "get-convex/convex-backend crates/isolate/src/environment/action/mod.rs",
    [{ request: "/nowhere" }],
    { value: { status: 404, body: "No matching routes found" } },
  ),
  row(
    "http-method",
    "Routes match the method too.",
    "get-convex/convex-backend crates/isolate/src/environment/action/mod.rs",
    [{ request: "/calls" }],
    { value: { status: 404, body: "No matching routes found" } },
  ),
];

export const rows: readonly Row[] = [...visibility, ...nested];
