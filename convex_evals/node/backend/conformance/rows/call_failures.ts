/** Errors, arguments, returns and time. */

import type { Row } from "../harness.ts";
import { row, query, mutation, action } from "../calls_app.ts";

const UDF = "get-convex/convex-backend crates/isolate/src/environment/udf/mod.rs";
const TERMINATION = "get-convex/convex-backend crates/isolate/src/termination.rs";
const ERRORS = "https://docs.convex.dev/functions/error-handling/application-errors";

const failures: readonly Row[] = [
  row(
    "error-text",
    "Developers see the name, the message and where it was thrown.",
    "https://docs.convex.dev/functions/error-handling/",
    [query("m:throws")],
    {
      rejects:
        /^\[Request ID: [0-9a-f]{16}\] Server Error\nUncaught TypeError: broken\n {4}at handler \(\.\.\/convex\/m\.ts:\d+:\d+\)/,
    },
  ),
  row(
    "convex-error",
    "The data of a ConvexError reaches the client, with every type of value.",
    ERRORS,
    [mutation("m:throwsData")],
    { rejects: "Uncaught ConvexError:", data: { code: 7n, list: ["x"] } },
  ),
  row("convex-error-text", "A ConvexError may carry a string.", ERRORS, [query("m:throwsText")], {
    rejects: "Uncaught ConvexError: plain",
    data: "plain",
  }),
  row(
    "convex-error-inner",
    "Actions catch the ConvexErrors of what they call, data included.",
    ERRORS,
    [action("m:innerData")],
    { value: { code: 7n, list: ["x"] } },
  ),
  row(
    "convex-error-nested",
    "Mutations catch the ConvexErrors of what they call, as instances of their own class.",
    ERRORS,
    [mutation("m:nestedData")],
    { value: { code: 7n, list: ["x"] } },
  ),
  row(
    "rollback",
    "A mutation whose return value is refused leaves nothing behind.",
    "https://docs.convex.dev/functions/validation",
    [mutation("m:badReturn")],
    { rejects: /ReturnsValidationError: Value does not match validator\.\n[^]*Value: 1\.0\nValidator: v\.string\(\)/ },
  ),
  row(
    "own-writes",
    "A mutation reads its own writes.",
    "https://docs.convex.dev/database/advanced/occ",
    [mutation("m:twoStep")],
    { value: 1 },
  ),
  row(
    "undefined",
    "A function that returns nothing returns null.",
    "https://docs.convex.dev/functions/query-functions#returning-values",
    [query("m:undef")],
    { value: null },
  ),
  row(
    "no-validator",
    "Without a validator any arguments are accepted.",
    "https://docs.convex.dev/functions/validation",
    [query("m:noValidator", { a: [1n, null] })],
    { value: { a: [1n, null] } },
  ),
  row(
    "args-extra",
    "Arguments that the validator does not name are refused.",
    "https://docs.convex.dev/functions/validation",
    [mutation("m:write", { name: "x", more: 1 })],
    { rejects: "ArgumentValidationError: Object contains extra field `more` that is not in the validator." },
  ),
  row(
    "args-missing",
    "Required arguments have to be there.",
    "https://docs.convex.dev/functions/validation",
    [mutation("m:write", {})],
    { rejects: "ArgumentValidationError: Object is missing the required field `name`." },
  ),
  row(
    "never-settles",
    "A query that waits for nothing is ended.",
    UDF,
    [query("m:never")],
    { rejects: "Returned promise will never resolve" },
    { options: { limits: { transactionMs: 200 } } },
  ),
  row("time-limit", "Queries and mutations compute for at most one second.", TERMINATION, [query("m:spin")], {
    rejects: "Function execution timed out (maximum duration: 1s)",
  }),
  row(
    "floating",
    "Writes that are not awaited still belong to the mutation.",
    UDF,
    [mutation("m:floating"), query("m:names")],
    { value: ["floating"] },
  ),
];

export const rows: readonly Row[] = [...failures];
