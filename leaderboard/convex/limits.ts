/** How large what callers send may be: everything is stored, and much of it shown to everyone. */
import { ConvexError } from "convex/values";

const LONGEST_NAME = 200;
const LONGEST_TEXT = 20_000;
const MOST_EVALS = 1_000;
const LARGEST_RAW_USAGE = 4_096;
const MOST_TAGS = 100;
const MOST_KEYS = 1_000;
const SHA_256 = /^[0-9a-f]{64}$/;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** A name that stands in tables and in pictures: one line. */
export function checkName(what: string, text: string): void {
  if (text === "" || text.length > LONGEST_NAME) {
    throw new ConvexError(`${what} must have 1 to ${LONGEST_NAME} characters, not ${text.length}`);
  }
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)) throw new ConvexError(`${what} must be one line without control characters`);
}

export function checkText(what: string, text: string): void {
  if (text.length > LONGEST_TEXT) {
    throw new ConvexError(`${what} must have at most ${LONGEST_TEXT} characters, not ${text.length}`);
  }
}

/** Durations, numbers of tokens, costs. */
export function checkAmount(what: string, value: number): void {
  if (!Number.isFinite(value) || value < 0) throw new ConvexError(`${what} must be a number from 0 on`);
}

export function checkPlan(plannedEvals: readonly string[]): void {
  if (plannedEvals.length > MOST_EVALS) throw new ConvexError(`a run has at most ${MOST_EVALS} evals`);
  if (new Set(plannedEvals).size < plannedEvals.length) throw new ConvexError("an eval is planned twice");
  for (const path of plannedEvals) {
    checkName("plannedEvals", path);
    if (!/^[^/]+\/[^/]+$/.test(path)) throw new ConvexError(`plannedEvals: "${path}" is not category/name`);
  }
}

interface Finished {
  readonly durationMs: number;
  readonly generationDurationMs?: number;
  readonly failureReason?: string;
  readonly usage?: { readonly raw?: unknown };
}

/** What a run or an eval ended with. */
export function checkFinished(status: Finished): void {
  checkAmount("durationMs", status.durationMs);
  if (status.generationDurationMs !== undefined) checkAmount("generationDurationMs", status.generationDurationMs);
  if (status.failureReason !== undefined) checkText("failureReason", status.failureReason);
  const raw = JSON.stringify(status.usage?.raw ?? null);
  if (raw.length > LARGEST_RAW_USAGE) throw new ConvexError(`usage.raw has more than ${LARGEST_RAW_USAGE} characters`);
}

export function checkTags(tags: readonly string[]): void {
  if (tags.length > MOST_TAGS) throw new ConvexError(`a session has at most ${MOST_TAGS} tags`);
  for (const tag of tags) checkName("tags", tag);
}

interface Key {
  readonly name: string;
  readonly keySha256: string;
  readonly scopes: readonly string[];
  readonly expires: string | null;
  readonly revoked: string | null;
}

export function checkKeys(keys: readonly Key[]): void {
  if (keys.length > MOST_KEYS) throw new ConvexError(`there are at most ${MOST_KEYS} keys`);
  for (const { name, keySha256, scopes, expires, revoked } of keys) {
    checkName("name", name);
    if (!SHA_256.test(keySha256)) throw new ConvexError(`key ${name}: keySha256 must be a SHA-256 in hexadecimal`);
    for (const scope of scopes) checkName("scopes", scope);
    for (const day of [expires, revoked]) {
      if (day !== null && !DAY.test(day)) throw new ConvexError(`key ${name}: "${day}" is no day`);
    }
  }
}
