/**
 * What web pages may do with an app that is kept. It runs on a person's machine, where any page that is open in a browser
 * can send requests to it. Pages of other sites may read, like every client; only programs on this machine, and the app's own
 * pages, may do more.
 *
 * A browser says in `Origin` which site a page is of, with each request that could change something; programs say nothing.
 */

import type { IncomingMessage } from "node:http";
import { FOR_READING, type Door } from "./doors.ts";
import { HttpError } from "./errors.ts";

/** What a request finds: its door, and who it is that knocks. */
export type DoorOf = (request: IncomingMessage, door: Door) => Door;

/** Leaves every door as it is. */
export const anyPage: DoorOf = (_request, door) => door;

/** Another door for pages of other origins than the ports that `ownPorts` gives. */
export function ownPages(ownPorts: () => readonly number[]): DoorOf {
  return ({ headers: { origin } }, door) => (origin === undefined || isOwn(origin, ownPorts()) ? door : FOR_READING);
}

// The `Host` of a request would be no measure: any name can be made to lead to this machine.
const LOOPBACK: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

function isOwn(origin: string, ports: readonly number[]): boolean {
  return LOOPBACK.some((host) => ports.some((port) => origin === `http://${host}:${port}`));
}

/** What is said to a page that wants more than to read. */
export const READING_ONLY = "Pages of other sites may only read from this deployment";

/** Throws `HttpError` 403 where a door lets nothing through but what reads. */
export function requireWriting(door: Door): void {
  if (!door.writing) throw new HttpError(403, "ForeignOrigin", READING_ONLY);
}

/** Whether an HTTP request, by its method, leaves everything as it is. */
export function isReading(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
