/** The endpoints of a push: `/api/deploy2/*`. */

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { App } from "./app/app.ts";
import type { Deployment } from "./app/deployment.ts";
import { checkAdminKey } from "./auth.ts";
import type { Door } from "./doors.ts";
import { StorageError } from "./durable/journal.ts";
import { checkVariables } from "./environment_variables.ts";
import { DeployError, HttpError } from "./errors.ts";
import { componentDiffs } from "./push/component_diff.ts";
import { parseStartPush } from "./push/request.ts";
import { pushIdOf, startPushResponse } from "./push/response.ts";

type Json = Record<string, unknown>;
type Endpoint = (body: Json) => Promise<Json>;

interface Pending {
  readonly deployment: Deployment;
  /** What was set when it was evaluated. */
  readonly variables: ReadonlyMap<string, string>;
}

// A push that is never finished must not keep its context for ever.
const MAX_PENDING = 4;

/** Owns the pushes that have started and not finished. */
export class PushApi {
  readonly #app: App;
  readonly #pending = new Map<string, Pending>();
  readonly #endpoints: Readonly<Record<string, Endpoint>> = {
    start_push: (body) => this.#start(body),
    evaluate_push: (body) => this.#evaluate(body),
    evaluate_schema: async () => ({ componentSchemaEvaluations: {}, newComponentDefinitions: [] }),
    wait_for_schema: async (body) => this.#waitForSchema(body),
    finish_push: async (body) => this.#finish(body),
    report_push_completed: async () => ({}),
  };

  constructor(app: App) {
    this.#app = app;
  }

  /** Handles `/api/deploy2/<name>`; null when there is no such endpoint. */
  async handle(name: string, body: unknown, door: Door): Promise<Json | null> {
    const endpoint = Object.hasOwn(this.#endpoints, name) ? this.#endpoints[name] : undefined;
    if (!endpoint) return null;
    if (typeof body !== "object" || body === null) {
      throw new HttpError(400, "BadJsonBody", "The body must be a JSON object");
    }
    checkAdminKey((body as Json)["adminKey"], door);
    return await endpoint(body as Json);
  }

  async #start(body: Json): Promise<Json> {
    const request = parseStartPush(body);
    const variables = this.#app.environment.user;
    const deployment = await pushing(() => this.#app.evaluate(request));
    const id = randomUUID();
    this.#pending.set(id, { deployment, variables });
    for (const [oldest] of this.#pending) {
      if (this.#pending.size <= MAX_PENDING) break;
      this.#pending.get(oldest)?.deployment.close();
      this.#pending.delete(oldest);
    }
    return startPushResponse(deployment.push, this.#app.deployment?.push ?? null, id, variables);
  }

  async #evaluate(body: Json): Promise<Json> {
    const deployment = await pushing(() => this.#app.evaluate(parseStartPush(body)));
    const response = startPushResponse(
      deployment.push,
      this.#app.deployment?.push ?? null,
      "",
      this.#app.environment.user,
    );
    deployment.close();
    return { schemaChange: response["schemaChange"] };
  }

  #waitForSchema(body: Json): Json {
    const mismatch = this.#app.dataMismatch(this.#pendingOf(body["schemaChange"]).deployment);
    if (!mismatch) return { type: "complete" };
    return { type: "failed", error: mismatch.error, componentPath: mismatch.componentPath, tableName: null };
  }

  #finish(body: Json): Json {
    const schemaChange = (body["startPush"] as Json | undefined)?.["schemaChange"];
    const { deployment, variables } = this.#pendingOf(schemaChange);
    this.#checkVariables(deployment, variables);
    const mismatch = this.#app.dataMismatch(deployment);
    if (mismatch) throw new HttpError(400, "SchemaValidationFailed", mismatch.error);
    const previous = this.#app.deployment?.push ?? null;
    const diff = {
      authDiff: { added: [], removed: [] },
      definitionDiffs: {},
      componentDiffs: componentDiffs(deployment.push, previous),
    };
    this.#pending.delete(pushIdOf(schemaChange) ?? "");
    if (body["dryRun"] !== true) this.#activate(deployment);
    return diff;
  }

  // What was evaluated has read them as they were.
  #checkVariables(deployment: Deployment, evaluatedWith: ReadonlyMap<string, string>): void {
    const now = this.#app.environment.user;
    if (now !== evaluatedWith && !isDeepStrictEqual(now, evaluatedWith)) {
      throw new HttpError(400, "RaceDetected", "Environment variables have changed during push");
    }
    checkVariables(deployment, now);
  }

  #activate(deployment: Deployment): void {
    try {
      this.#app.activate(deployment);
    } catch (error) {
      if (error instanceof StorageError) throw new HttpError(503, "StorageFailed", error.message);
      throw error;
    }
  }

  #pendingOf(schemaChange: unknown): Pending {
    const pending = this.#pending.get(pushIdOf(schemaChange) ?? "");
    if (!pending) throw new HttpError(400, "NoSuchPush", "This push has already finished, or was never started");
    return pending;
  }
}

// get-convex/convex-backend crates/local_backend/src/deploy_config2.rs
async function pushing(run: () => Promise<Deployment>): Promise<Deployment> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof DeployError)) throw error;
    throw new DeployError(error.code, `Hit an error while pushing:\n${error.message}`);
  }
}
