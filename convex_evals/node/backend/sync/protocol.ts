/** Messages of the sync protocol, as `convex/src/browser/sync/protocol.ts` defines them. */

import { parseJson } from "../json_text.ts";
import type { JsonValue } from "../runtime_types.ts";

/** A u64 as base64 of its eight little-endian bytes. */
export type EncodedTimestamp = string;

export interface AddQuery {
  readonly type: "Add";
  readonly queryId: number;
  readonly udfPath: string;
  readonly args: readonly JsonValue[];
  readonly journal?: string | null;
  readonly componentPath?: string;
}

export interface RemoveQuery {
  readonly type: "Remove";
  readonly queryId: number;
}

export interface FunctionRequest {
  readonly requestId: number;
  readonly udfPath: string;
  readonly args: readonly JsonValue[];
  readonly componentPath?: string;
}

export type Authenticate = { readonly type: "Authenticate"; readonly baseVersion: number } & (
  | { readonly tokenType: "Admin"; readonly value: string; readonly impersonating?: unknown }
  | { readonly tokenType: "User"; readonly value: string }
  | { readonly tokenType: "None" }
);

export interface ModifyQuerySet {
  readonly type: "ModifyQuerySet";
  readonly baseVersion: number;
  readonly newVersion: number;
  readonly modifications: readonly (AddQuery | RemoveQuery)[];
}

export type ClientMessage =
  | { readonly type: "Connect"; readonly sessionId: string }
  | Authenticate
  | ModifyQuerySet
  | ({ readonly type: "Mutation" } & FunctionRequest)
  | ({ readonly type: "Action" } & FunctionRequest)
  | { readonly type: "Event" };

export interface StateVersion {
  readonly querySet: number;
  readonly identity: number;
  readonly ts: EncodedTimestamp;
}

export type StateModification =
  | {
      readonly type: "QueryUpdated";
      readonly queryId: number;
      readonly value: JsonValue;
      readonly logLines: readonly string[];
      readonly journal: string | null;
    }
  | {
      readonly type: "QueryFailed";
      readonly queryId: number;
      readonly errorMessage: string;
      readonly logLines: readonly string[];
      readonly errorData?: JsonValue;
      readonly journal: string | null;
    }
  | { readonly type: "QueryRemoved"; readonly queryId: number };

export type MutationResponse = {
  readonly type: "MutationResponse";
  readonly requestId: number;
  readonly logLines: readonly string[];
} & (
  | { readonly success: true; readonly result: JsonValue; readonly ts: EncodedTimestamp }
  | { readonly success: false; readonly result: string; readonly errorData?: JsonValue }
);

export type ActionResponse = {
  readonly type: "ActionResponse";
  readonly requestId: number;
  readonly logLines: readonly string[];
} & (
  | { readonly success: true; readonly result: JsonValue }
  | { readonly success: false; readonly result: string; readonly errorData?: JsonValue }
);

export type ServerMessage =
  | {
      readonly type: "Transition";
      readonly startVersion: StateVersion;
      readonly endVersion: StateVersion;
      readonly modifications: readonly StateModification[];
    }
  | MutationResponse
  | ActionResponse
  | {
      readonly type: "AuthError";
      readonly error: string;
      readonly baseVersion: number;
      readonly authUpdateAttempted: boolean;
    }
  | { readonly type: "FatalError"; readonly error: string }
  | { readonly type: "Ping" };

export function encodeTimestamp(ts: bigint): EncodedTimestamp {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(ts);
  return bytes.toString("base64");
}

/** A message that does not follow the protocol. */
export class ProtocolError extends Error {}

type Fields = Record<string, unknown>;

/** Parses one text frame; throws `ProtocolError`. */
export function parseClientMessage(text: string): ClientMessage {
  const message = parseObject(text);
  switch (message["type"]) {
    case "Connect":
      return { type: "Connect", sessionId: string(message, "sessionId") };
    case "Authenticate":
      return parseAuthenticate(message);
    case "ModifyQuerySet":
      return {
        type: "ModifyQuerySet",
        baseVersion: integer(message, "baseVersion"),
        newVersion: integer(message, "newVersion"),
        modifications: array(message, "modifications").map(parseModification),
      };
    case "Mutation":
      return { type: "Mutation", ...parseRequest(message) };
    case "Action":
      return { type: "Action", ...parseRequest(message) };
    case "Event":
      return { type: "Event" };
    default:
      throw new ProtocolError(`Unknown message type: ${shown(message["type"])}`);
  }
}

function parseObject(text: string): Fields {
  let message: unknown;
  try {
    message = parseJson(text);
  } catch (error) {
    throw new ProtocolError(`The message is not JSON: ${(error as Error).message}`);
  }
  return object(message);
}

function parseAuthenticate(message: Fields): Authenticate {
  const baseVersion = integer(message, "baseVersion");
  switch (message["tokenType"]) {
    case "Admin":
      return {
        type: "Authenticate",
        baseVersion,
        tokenType: "Admin",
        value: string(message, "value"),
        impersonating: message["impersonating"],
      };
    case "User":
      return { type: "Authenticate", baseVersion, tokenType: "User", value: string(message, "value") };
    case "None":
      return { type: "Authenticate", baseVersion, tokenType: "None" };
    default:
      throw new ProtocolError(`Unknown token type: ${shown(message["tokenType"])}`);
  }
}

function parseModification(value: unknown): AddQuery | RemoveQuery {
  const modification = object(value);
  const queryId = integer(modification, "queryId");
  switch (modification["type"]) {
    case "Add":
      return { type: "Add", queryId, ...functionOf(modification), journal: nullableString(modification["journal"]) };
    case "Remove":
      return { type: "Remove", queryId };
    default:
      throw new ProtocolError(`Unknown modification type: ${shown(modification["type"])}`);
  }
}

function parseRequest(message: Fields): FunctionRequest {
  return { requestId: integer(message, "requestId"), ...functionOf(message) };
}

function functionOf(message: Fields): Pick<FunctionRequest, "udfPath" | "args" | "componentPath"> {
  const componentPath = message["componentPath"];
  return {
    udfPath: string(message, "udfPath"),
    args: array(message, "args") as JsonValue[],
    ...(typeof componentPath === "string" ? { componentPath } : {}),
  };
}

function object(value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new ProtocolError("Expected an object");
  }
  return value as Fields;
}

function string(message: Fields, field: string): string {
  const value = message[field];
  if (typeof value !== "string") throw new ProtocolError(`\`${field}\` must be a string`);
  return value;
}

// Not with `String`, which an object can make fail.
function shown(value: unknown): string {
  return JSON.stringify(value ?? null).slice(0, 100);
}

function nullableString(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function integer(message: Fields, field: string): number {
  const value = message[field];
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0) {
    throw new ProtocolError(`\`${field}\` must be a non-negative integer`);
  }
  return value;
}

function array(message: Fields, field: string): unknown[] {
  const value = message[field];
  if (!Array.isArray(value)) throw new ProtocolError(`\`${field}\` must be an array`);
  return value;
}
