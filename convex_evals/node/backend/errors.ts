/** Errors that end up on the wire. */

import { randomBytes } from "node:crypto";

/** A refused HTTP request: Convex's `{code, message}` body with a status. */
export class HttpError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** A push that Convex's server refuses. */
export class DeployError extends HttpError {
  constructor(code: string, message: string) {
    super(400, code, message);
  }
}

/** A push whose modules are at fault: get-convex/convex-backend crates/application/src/lib.rs */
export function invalidModules(message: string): DeployError {
  return new DeployError(
    "InvalidModules",
    `Loading the pushed modules encountered the following\n    error:\n${message}`,
  );
}

/** A push whose configuration of authentication is at fault: crates/isolate/src/client.rs (evaluate_auth_config) */
export class InvalidAuthConfig extends DeployError {
  readonly reason: string;

  constructor(reason: string, what = "The pushed auth config is invalid") {
    super("InvalidAuthConfig", `${what}: ${reason}`);
    this.reason = reason;
  }
}

export class BadAdminKeyError extends HttpError {
  constructor() {
    super(401, "BadAdminKey", "The provided admin key was invalid for this instance");
  }
}

/** What is answered where this backend is at fault. */
export function internalError(error: unknown, told: (text: string) => string): HttpError {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new HttpError(500, "InternalServerError", told(text));
}

export function newRequestId(): string {
  return randomBytes(8).toString("hex");
}

/** The text that clients get for a function that failed. */
export function serverErrorText(errorMessage: string): string {
  return `[Request ID: ${newRequestId()}] Server Error\n${errorMessage}\n`;
}
