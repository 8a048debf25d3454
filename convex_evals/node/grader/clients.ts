/** Typed clients for the candidate's backend and the answer's, as whoever a test needs to be. */
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { getFunctionName } from "convex/server";
import type {
  FunctionReference,
  FunctionReturnType,
  FunctionVisibility,
  OptionalRestArgs,
  UserIdentityAttributes,
} from "convex/server";
import { closeAfterRun } from "./closing.ts";
import { ADMIN_KEY, answerUrl, candidateUrl } from "./connection.ts";
import { leanFetch } from "./fetch.ts";

type Kind = "query" | "mutation" | "action";
type AnyFunction<K extends Kind> = FunctionReference<K, FunctionVisibility>;

/** Who is calling. A user is impersonated with the admin key, so that no login is needed. */
export type Caller = { kind: "anonymous" } | { kind: "admin" } | { kind: "user"; identity: UserIdentityAttributes };

/** A live query: what the server has sent so far. */
export interface Watch<T> {
  /** The newest result, undefined before the first. */
  latest(): T | undefined;
  /** The newest error, undefined when the newest message is a result. */
  error(): Error | undefined;
  /** All results in the order of their arrival. */
  history(): readonly T[];
  stop(): void;
}

/** After this long without a reply a call fails by name, before the test's own limit would end it without one. */
const CALL_LIMIT_MS = 10_000;

/** Calls functions over HTTP, `query`, `mutation` and `action`, and subscribes to queries over a WebSocket, `watch`. */
export class GraderClient {
  readonly #url: string;
  readonly #caller: Caller;
  readonly #http: ConvexHttpClient;
  #live: ConvexClient | undefined;

  constructor(url: string, caller: Caller) {
    this.#url = url;
    this.#caller = caller;
    this.#http = new ConvexHttpClient(url, {
      skipConvexDeploymentUrlCheck: true,
      logger: false,
      fetch: leanFetch as typeof fetch,
    });
    authenticate(this.#http, caller);
  }

  query<F extends AnyFunction<"query">>(reference: F, ...[args]: OptionalRestArgs<F>): Promise<FunctionReturnType<F>> {
    return answered(reference, this.#http.query(asPublic<F, "query">(reference), args ?? {}));
  }

  /** Mutations of one client are not queued: a grader may send several at once on purpose. */
  mutation<F extends AnyFunction<"mutation">>(
    reference: F,
    ...[args]: OptionalRestArgs<F>
  ): Promise<FunctionReturnType<F>> {
    return answered(
      reference,
      this.#http.mutation(asPublic<F, "mutation">(reference), args ?? {}, { skipQueue: true }),
    );
  }

  action<F extends AnyFunction<"action">>(
    reference: F,
    ...[args]: OptionalRestArgs<F>
  ): Promise<FunctionReturnType<F>> {
    return answered(reference, this.#http.action(asPublic<F, "action">(reference), args ?? {}));
  }

  /** Subscribes to a query over a WebSocket; to be read with `eventually`. */
  watch<F extends AnyFunction<"query">>(reference: F, ...[args]: OptionalRestArgs<F>): Watch<FunctionReturnType<F>> {
    const results: FunctionReturnType<F>[] = [];
    let failure: Error | undefined;
    const stop = this.#socket().onUpdate(
      asPublic<F, "query">(reference),
      args ?? {},
      (result) => {
        failure = undefined;
        results.push(result);
      },
      (error) => {
        failure = error;
      },
    );
    return { latest: () => results.at(-1), error: () => failure, history: () => results, stop: () => stop() };
  }

  #socket(): ConvexClient {
    if (this.#live === undefined) {
      const live = new ConvexClient(this.#url, { skipConvexDeploymentUrlCheck: true, logger: false });
      authenticate(live, this.#caller);
      closeAfterRun(() => live.close());
      this.#live = live;
    }
    return this.#live;
  }
}

/** `setAdminAuth` exists on both official clients and is missing from their published types. */
interface AdminAuthenticated {
  setAdminAuth(token: string, identity?: UserIdentityAttributes): void;
}

function authenticate(client: object, caller: Caller): void {
  const authenticated = client as AdminAuthenticated;
  switch (caller.kind) {
    case "anonymous":
      return;
    case "admin":
      return authenticated.setAdminAuth(ADMIN_KEY);
    case "user":
      return authenticated.setAdminAuth(ADMIN_KEY, caller.identity);
    default:
      caller satisfies never;
  }
}

/** The server decides who may call what; the official clients' types know public functions only. */
function asPublic<F extends AnyFunction<Kind>, K extends Kind>(reference: F) {
  return reference as unknown as FunctionReference<K, "public", Record<string, unknown>, FunctionReturnType<F>>;
}

async function answered<T>(reference: AnyFunction<Kind>, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not return within ${CALL_LIMIT_MS / 1000} s`)), CALL_LIMIT_MS);
  });
  try {
    return await Promise.race([call, limit]);
  } catch (error) {
    // The error itself stays: a ConvexError carries the app's data.
    if (error instanceof Error) {
      error.message = `The call of \`${getFunctionName(reference)}\` failed: ${error.message}`;
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** The candidate's backend, called without any authentication: what anybody on the internet may do. */
export function anonymousClient(): GraderClient {
  return new GraderClient(candidateUrl(), { kind: "anonymous" });
}

/** The candidate's backend, called as this user. `subject` and `issuer` identify the user: two users need two of them. */
export function clientAs(identity: UserIdentityAttributes): GraderClient {
  return new GraderClient(candidateUrl(), { kind: "user", identity });
}

/** The candidate's backend with all rights: internal functions and the dashboard's own functions too. */
export function adminClient(): GraderClient {
  return new GraderClient(candidateUrl(), { kind: "admin" });
}

/** The answer's backend with all rights, to compare the candidate with. */
export function answerClient(): GraderClient {
  return new GraderClient(answerUrl(), { kind: "admin" });
}
