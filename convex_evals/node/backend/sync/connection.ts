/** One client of the sync protocol. */

import type { App } from "../app/app.ts";
import type { AppCall } from "../app/call.ts";
import { adminCaller, ANONYMOUS, type Caller } from "../auth.ts";
import type { Door } from "../doors.ts";
import { READING_ONLY } from "../pages.ts";
import { MAX_QUERIES, tooManyQueries } from "../request_limits.ts";
import {
  actionResponse,
  callOf,
  encodeVersion,
  mutationResponse,
  refusedAction,
  refusedMutation,
  type Version,
} from "./messages.ts";
import type { MutationHistory } from "./mutation_history.ts";
import { parseClientMessage, ProtocolError } from "./protocol.ts";
import type { Authenticate, ClientMessage, FunctionRequest, ModifyQuerySet, ServerMessage } from "./protocol.ts";
import { QuerySet, type Subscription } from "./query_set.ts";

export interface Transport {
  send(message: ServerMessage): void;
  close(): void;
}

/**
 * Owns a client's identity, its version and its query set. Messages change the
 * target; `#advance` brings the client there, one transition at a time.
 *
 * A transition carries the versions that it leads from and to, and the client refuses one that does not continue the
 * last. Therefore there is never a second one on its way, and each takes over all that has changed when it starts:
 *
 *     ModifyQuerySet 0 -> 1    target 1; a transition is due in the next turn of the event loop
 *     ModifyQuerySet 1 -> 2    target 2; it is due already
 *     #transition              waits for the transaction lock; then takes what is dirty, and target 2
 *       ModifyQuerySet 2 -> 3  target 3: for the next one, as the queries of this one are already chosen
 *     Transition 0 -> 2        sent; the client is behind again
 *     Transition 2 -> 3        sent; the client is where it should be, and `#advance` ends
 *
 * A mutation is answered before the transition that shows it. The client keeps its optimistic update until then, which
 * is why a transition is owed after each success, even where no query has changed.
 */
export class SyncConnection {
  readonly #app: App;
  readonly #history: MutationHistory;
  readonly #transport: Transport;
  readonly #door: Door;
  readonly #queries = new QuerySet();
  readonly #unsubscribe: (() => void)[];
  #caller: Caller = ANONYMOUS;
  #sessionId: string | null = null;
  #version: Version = { querySet: 0, identity: 0, ts: 0n };
  #target = { querySet: 0, identity: 0 };
  // A client settles a mutation when a transition follows its response.
  #owesTransition = false;
  #advancing = false;
  #closed = false;
  // Messages that wait until a token is verified; null while none is.
  #held: ClientMessage[] | null = null;
  #mutations: Promise<void> = Promise.resolve();

  constructor(app: App, history: MutationHistory, transport: Transport, door: Door) {
    this.#app = app;
    this.#history = history;
    this.#transport = transport;
    this.#door = door;
    this.#unsubscribe = [
      app.store.onCommit((commit) => {
        if (this.#queries.onCommit(commit)) this.#advanceSoon();
      }),
      app.onDeployed(() => {
        this.#queries.invalidate();
        this.#advanceSoon();
      }),
    ];
  }

  /** Handles one frame; a client that breaks the protocol is disconnected. */
  receive(text: string): void {
    if (this.#closed) return;
    this.#failingOnProtocol(() => {
      const message = parseClientMessage(text);
      if (this.#held) this.#held.push(message);
      else this.#handle(message);
    });
  }

  #failingOnProtocol(run: () => void): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#transport.send({ type: "FatalError", error: error.message });
      this.close();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.#transport.close();
  }

  #handle(message: ClientMessage): void {
    switch (message.type) {
      case "Connect":
        this.#sessionId = message.sessionId;
        return;
      case "Authenticate":
        return this.#authenticate(message);
      case "ModifyQuerySet":
        return this.#modify(message);
      case "Mutation":
        this.#mutations = this.#mutations.then(() => this.#mutate(message));
        return;
      case "Action":
        void this.#act(message);
        return;
      case "Event":
        return;
      default:
        throw message satisfies never;
    }
  }

  #authenticate(message: Authenticate): void {
    if (message.baseVersion !== this.#target.identity) {
      throw new ProtocolError(
        `Base version ${message.baseVersion} passed up doesn't match the current version ${this.#target.identity}`,
      );
    }
    this.#held = [];
    void this.#callerOf(message)
      .then(
        (caller) => this.#become(caller, message.baseVersion + 1),
        (error: Error) =>
          this.#transport.send({
            type: "AuthError",
            error: error.message,
            baseVersion: message.baseVersion,
            authUpdateAttempted: true,
          }),
      )
      .then(() => this.#handleHeld());
  }

  #become(caller: Caller, identity: number): void {
    this.#caller = caller;
    this.#target = { ...this.#target, identity };
    this.#queries.invalidate();
    this.#advanceSoon();
  }

  // What came after a token was sent by whoever the token says.
  #handleHeld(): void {
    const held = this.#held ?? [];
    this.#held = null;
    this.#failingOnProtocol(() => {
      for (const message of held) {
        if (this.#closed) return;
        if (this.#held) this.#held.push(message);
        else this.#handle(message);
      }
    });
  }

  async #callerOf(message: Authenticate): Promise<Caller> {
    switch (message.tokenType) {
      case "Admin":
        return adminCaller(message.value, message.impersonating, this.#door);
      case "User":
        return await this.#app.auth.callerOfToken(message.value);
      case "None":
        return ANONYMOUS;
      default:
        throw message satisfies never;
    }
  }

  #modify(message: ModifyQuerySet): void {
    if (message.baseVersion !== this.#target.querySet) {
      throw new ProtocolError(
        `Base version ${message.baseVersion} passed up doesn't match the current version ${this.#target.querySet}`,
      );
    }
    for (const modification of message.modifications) {
      if (modification.type === "Add") this.#queries.add(modification);
      else this.#queries.remove(modification.queryId);
    }
    if (this.#queries.size > MAX_QUERIES) throw new ProtocolError(tooManyQueries(this.#queries.size));
    this.#target = { ...this.#target, querySet: message.newVersion };
    this.#advanceSoon();
  }

  async #mutate(request: FunctionRequest): Promise<void> {
    if (!this.#door.writing) return this.#transport.send(refusedMutation(request.requestId, READING_ONLY));
    const caller = this.#caller;
    const response = await this.#history.once(this.#sessionId, request.requestId, async () =>
      mutationResponse(
        request.requestId,
        await this.#app.call(callOf("mutation", request, caller)),
        this.#app.store.lastCommitTs,
      ),
    );
    if (this.#closed) return;
    this.#transport.send(response);
    if (!response.success) return;
    this.#owesTransition = true;
    this.#advanceSoon();
  }

  async #act(request: FunctionRequest): Promise<void> {
    if (!this.#door.writing) return this.#transport.send(refusedAction(request.requestId, READING_ONLY));
    const outcome = await this.#app.call(callOf("action", request, this.#caller));
    if (!this.#closed) this.#transport.send(actionResponse(request.requestId, outcome));
  }

  // A burst of commits or messages makes one transition.
  #advanceSoon(): void {
    if (this.#advancing || this.#closed) return;
    this.#advancing = true;
    setImmediate(() => void this.#advance());
  }

  async #advance(): Promise<void> {
    try {
      while (!this.#closed && this.#isBehind()) await this.#transition();
    } finally {
      this.#advancing = false;
    }
  }

  #isBehind(): boolean {
    const { querySet, identity } = this.#target;
    return (
      this.#owesTransition ||
      this.#queries.isDirty ||
      querySet !== this.#version.querySet ||
      identity !== this.#version.identity
    );
  }

  async #transition(): Promise<void> {
    let run: Subscription[] = [];
    let target = this.#target;
    const select = (): AppCall[] => {
      run = this.#queries.startRun();
      target = this.#target;
      this.#owesTransition = false;
      return run.map(({ query, journal }) => ({ ...callOf("query", query, this.#caller), journal }));
    };
    try {
      const { ts, outcomes } = await this.#app.snapshot(select);
      const modifications = this.#queries.record(run, outcomes, ts);
      this.#moveTo({ ...target, ts: ts > this.#version.ts ? ts : this.#version.ts }, modifications);
    } catch (error) {
      this.#queries.abandon(run);
      const text = this.#app.told(String(error));
      this.#transport.send({ type: "FatalError", error: `Internal server error: ${text}` });
      this.close();
    }
  }

  #moveTo(next: Version, modifications: Extract<ServerMessage, { type: "Transition" }>["modifications"]): void {
    if (this.#closed) return;
    this.#transport.send({
      type: "Transition",
      startVersion: encodeVersion(this.#version),
      endVersion: encodeVersion(next),
      modifications,
    });
    this.#version = next;
  }
}
