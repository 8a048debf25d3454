/**
 * The queries that one connection subscribes to, and how up to date each is.
 *
 * A query runs again when a commit wrote to what it read the last time. What it read is known only once it has run and
 * its result is recorded; commits do not wait for that, so those of the meantime are kept and compared afterwards. With
 * one query, which reads the table `messages`:
 *
 *     add                    dirty; nothing is known of what it reads
 *     startRun               not dirty any more; commits are kept from here on
 *       (runs at ts 7)       under the transaction lock, which is free again before `record` gets its turn
 *       onCommit(ts 8)       writes `messages`: there is no read set to compare it with yet, but it is kept
 *     record(ts 7)           the result is sent; it read `messages`, and so 8 makes it dirty again
 *     startRun ... record    runs at ts 8; the same result as before is not sent twice
 *     onCommit(ts 9)         writes `users`: nothing is dirty, and no transition follows
 *
 * Without what is kept, the client would show the state of ts 7 until the next message comes in.
 */

import type { CallOutcome } from "../app/call.ts";
import type { Commit, ReadSet } from "../data_store.ts";
import { serverErrorText } from "../errors.ts";
import type { AddQuery, StateModification } from "./protocol.ts";

export interface Subscription {
  readonly query: AddQuery;
  /** Where a paginated query's page ended the first time; keeps pages adjacent. */
  journal: string | null;
  readSet: ReadSet | null;
  /** The last result sent, as text. */
  sent: string | null;
  dirty: boolean;
}

export class QuerySet {
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #removed: number[] = [];
  // Commits that came in while results were computed but not yet recorded.
  #commitsDuringRun: Commit[] | null = null;

  add(query: AddQuery): void {
    this.#subscriptions.set(query.queryId, {
      query,
      journal: query.journal ?? null,
      readSet: null,
      sent: null,
      dirty: true,
    });
  }

  remove(queryId: number): void {
    if (this.#subscriptions.delete(queryId)) this.#removed.push(queryId);
  }

  get size(): number {
    return this.#subscriptions.size;
  }

  /** Every query runs again, because who asks or what runs has changed. */
  invalidate(): void {
    for (const subscription of this.#subscriptions.values()) subscription.dirty = true;
  }

  /** Marks what depends on the commit; returns whether anything does. */
  onCommit(commit: Commit): boolean {
    this.#commitsDuringRun?.push(commit);
    let affected = false;
    for (const subscription of this.#subscriptions.values()) {
      if (!subscription.readSet?.intersects(commit.writes)) continue;
      subscription.dirty = true;
      affected = true;
    }
    return affected;
  }

  get isDirty(): boolean {
    for (const subscription of this.#subscriptions.values()) if (subscription.dirty) return true;
    return false;
  }

  /** Takes the subscriptions that have to run; `record` must follow. */
  startRun(): Subscription[] {
    this.#commitsDuringRun = [];
    const dirty = [...this.#subscriptions.values()].filter((subscription) => subscription.dirty);
    for (const subscription of dirty) subscription.dirty = false;
    return dirty;
  }

  /** Records results computed at `ts` and returns what changed for the client. */
  record(run: readonly Subscription[], outcomes: readonly CallOutcome[], ts: bigint): StateModification[] {
    const later = (this.#commitsDuringRun ?? []).filter((commit) => commit.ts > ts);
    this.#commitsDuringRun = null;
    const removals = this.#removed.splice(0).map((queryId): StateModification => ({ type: "QueryRemoved", queryId }));
    const updates = run.flatMap((subscription, index) => {
      const outcome = outcomes[index];
      return outcome ? this.#recordOne(subscription, outcome, later) : [];
    });
    return [...removals, ...updates];
  }

  /** Gives up a run that threw: its queries stay dirty. */
  abandon(run: readonly Subscription[]): void {
    this.#commitsDuringRun = null;
    for (const subscription of run) subscription.dirty = true;
  }

  #recordOne(subscription: Subscription, outcome: CallOutcome, later: readonly Commit[]): StateModification[] {
    const { queryId } = subscription.query;
    if (this.#subscriptions.get(queryId) !== subscription) return [];
    subscription.readSet = outcome.readSet;
    subscription.journal = outcome.journal;
    if (later.some((commit) => outcome.readSet.intersects(commit.writes))) subscription.dirty = true;
    const text = JSON.stringify(outcome.result);
    if (text === subscription.sent) return [];
    subscription.sent = text;
    return [modificationOf(queryId, outcome)];
  }
}

function modificationOf(queryId: number, outcome: CallOutcome): StateModification {
  const { result, logLines, journal } = outcome;
  if (result.ok) return { type: "QueryUpdated", queryId, value: result.value, logLines, journal };
  const errorData = result.errorData === undefined ? {} : { errorData: result.errorData };
  return {
    type: "QueryFailed",
    queryId,
    errorMessage: serverErrorText(result.errorMessage),
    logLines,
    ...errorData,
    journal,
  };
}
