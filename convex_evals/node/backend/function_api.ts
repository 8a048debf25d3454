/** Calls of functions by HTTP: https://docs.convex.dev/http-api/ */

import type { App } from "./app/app.ts";
import type { AppCall, CallOutcome } from "./app/call.ts";
import { requireAdmin } from "./auth.ts";
import type { Door } from "./doors.ts";
import { HttpError, serverErrorText } from "./errors.ts";
import { readJson, sendJson, type Exchange } from "./http_body.ts";
import { MAX_CALL_BYTES, MAX_QUERIES, tooManyQueries } from "./request_limits.ts";
import { parseJson } from "./json_text.ts";
import type { FunctionType, JsonValue } from "./runtime_types.ts";
import { valueFormat } from "./value_format.ts";

interface Parts {
  readonly app: App;
  readonly door: Door;
}

type Fields = Readonly<Record<string, unknown>>;

function notJson(problem: string): HttpError {
  return new HttpError(400, "BadJsonBody", `Failed to deserialize the JSON body into the target type: ${problem}`);
}

function fieldsOf(body: unknown): Fields {
  if (typeof body !== "object" || body === null) throw notJson("expected an object");
  return body as Fields;
}

async function readFields({ request }: Exchange): Promise<Fields> {
  return fieldsOf(await readJson(request, MAX_CALL_BYTES));
}

function pathOf({ path }: Fields): string {
  if (typeof path !== "string") throw notJson("`path` must be a string");
  return path;
}

function componentOf({ componentPath }: Fields): string {
  return typeof componentPath === "string" ? componentPath : "";
}

/** Clients send the arguments as an array of one object, people as the object. */
function argsOf({ args }: Fields): JsonValue {
  if (typeof args !== "object" || args === null) throw notJson("`args` must be an object");
  return ((Array.isArray(args) ? args[0] : args) ?? {}) as JsonValue;
}

async function call(
  { request, response }: Exchange,
  { app, door }: Parts,
  asked: Omit<AppCall, "caller">,
  format: unknown,
): Promise<void> {
  const caller = await app.auth.callerOfHeader(request.headers.authorization, door);
  const componentPath = caller.kind === "admin" ? asked.componentPath : "";
  sendJson(response, answer(await app.call({ ...asked, componentPath, caller }), format));
}

/** POST /api/query and the like; other than in Convex, an administrator may name a component here, too. */
export async function callFunction(exchange: Exchange, parts: Parts, type: FunctionType): Promise<void> {
  const body = await readFields(exchange);
  const asked = { type, path: pathOf(body), componentPath: componentOf(body), args: argsOf(body) };
  await call(exchange, parts, asked, body["format"]);
}

/** POST /api/function: whatever the function is, and in whichever component. */
export async function callAnyFunction(exchange: Exchange, parts: Parts): Promise<void> {
  requireAdmin(exchange.request.headers.authorization, parts.door);
  const body = await readFields(exchange);
  const asked = { type: "any", path: pathOf(body), componentPath: componentOf(body), args: argsOf(body) } as const;
  await call(exchange, parts, asked, body["format"]);
}

/** GET /api/query */
export async function callByUrl(exchange: Exchange, parts: Parts): Promise<void> {
  const { searchParams } = exchange.url;
  const fields = { path: searchParams.get("path"), args: parsed(searchParams.get("args")) };
  const asked = { type: "query", path: pathOf(fields), componentPath: "", args: argsOf(fields) } as const;
  await call(exchange, parts, asked, searchParams.get("format"));
}

function parsed(text: string | null): unknown {
  try {
    return parseJson(text ?? "");
  } catch {
    throw notJson("`args` must be JSON");
  }
}

/** POST /api/run/dir/module/function: https://docs.convex.dev/http-api/#functions */
export async function callByPath(exchange: Exchange, parts: Parts, path: string): Promise<void> {
  const at = path.lastIndexOf("/");
  if (at < 0) {
    const message = "Path or function name not provided in path, e.g. /api/run/messages/list";
    throw new HttpError(400, "MissingIdentifier", message);
  }
  const body = await readFields(exchange);
  const udfPath = `${path.slice(0, at)}:${path.slice(at + 1)}`;
  await call(exchange, parts, { type: "any", path: udfPath, componentPath: "", args: argsOf(body) }, body["format"]);
}

/** POST /api/query_batch: queries that see the same state. */
export async function callBatch(exchange: Exchange, { app, door }: Parts): Promise<void> {
  const { request, response } = exchange;
  const { queries } = await readFields(exchange);
  if (!Array.isArray(queries)) throw notJson("`queries` must be an array");
  if (queries.length > MAX_QUERIES) throw new HttpError(400, "TooManyQueries", tooManyQueries(queries.length));
  const caller = await app.auth.callerOfHeader(request.headers.authorization, door);
  const asked = queries.map(fieldsOf);
  const calls = asked.map((body): AppCall => {
    return { type: "query", path: pathOf(body), componentPath: "", args: argsOf(body), caller };
  });
  const { outcomes } = await app.snapshot(() => calls);
  sendJson(response, { results: outcomes.map((outcome, at) => answer(outcome, asked[at]?.["format"])) });
}

/** A failed function is an answer like any other. get-convex/convex-backend crates/local_backend/src/public_api.rs */
function answer({ result, logLines }: CallOutcome, format: unknown): object {
  // An unknown format is found after the call, too late for a mutation.
  const formatted = valueFormat(format);
  const logged = logLines.length === 0 ? {} : { logLines };
  if (result.ok) return { status: "success", value: formatted(result.value), ...logged };
  const { errorData, refusal } = result;
  if (refusal !== undefined) throw new HttpError(400, refusal, result.errorMessage);
  return {
    status: "error",
    errorMessage: serverErrorText(result.errorMessage),
    ...(errorData === undefined ? {} : { errorData: formatted(errorData) }),
    ...logged,
  };
}
