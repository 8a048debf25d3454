/**
 * What crosses the border between the host and the context of one call: texts, bytes of the context, and functions and plain
 * objects of them, which no code of the app gets hold of.
 */

import type { LogLevel } from "../runtime_types.ts";
import type { ModuleHelpers } from "./module_helpers.ts";

/** What runs in a context: one function's call, or the look at a module when it is pushed. */
export type IsolateKind = "query" | "mutation" | "action" | "analysis";

/** What is asked of a module when it is pushed. */
export type View = "module" | "definition" | "schema" | "authConfig";

/** A module as a function of the context that it was run in. */
export type ModuleFunction = (
  require: (specifier: string) => object,
  module: { exports: object },
  exports: object,
  meta: { readonly value: object },
  helpers: ModuleHelpers,
) => void;

/** A module that an import leads to; a text says why it leads nowhere. */
export type Resolved =
  | string
  | {
      readonly identifier: string;
      readonly run: ModuleFunction;
    }
  /** A module whose default export is this JSON text. */
  | { readonly identifier: string; readonly defaultExport: string };

export type Reject = (message: string, data: string | null) => void;

/** What an `AsyncLocalStorage` of a context keeps at the host. */
export interface HostStorage {
  run(store: unknown, call: () => void): void;
  enterWith(store: unknown): void;
  disable(): void;
  getStore(): unknown;
}

/** Runs `call` with the stores of the moment at which the snapshot was taken. */
export type RunInSnapshot = (call: () => void) => void;

export interface AsyncHost {
  openStorage(): HostStorage;
  snapshot(): RunInSnapshot;
}

/** A body that the host has, chunk by chunk. Each call of `pull` calls one of the functions that it is given, once. */
export interface HostBody {
  /** `allocate` makes room for a chunk, and is not called at the end. */
  pull(allocate: AllocateBytes, pulled: () => void, failed: (message: string) => void): void;
  cancel(): void;
}

/** A body that a context has; a chunk is null at the end. */
export interface ContextBody {
  pull(pulled: (chunk: Uint8Array | null) => void, failed: (message: string) => void): void;
  cancel(): void;
}

/** JSON of a request's head. */
export interface RequestHead {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** JSON of a response's head. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Bytes, or what has to be asked for them. */
export type SentBody = Uint8Array | ContextBody | null;

/** The parts of a URL, as `URL` names them. */
export type UrlParts = Readonly<Record<UrlPart | "href" | "origin" | "host", string>>;

/** A part with a setter. */
export type UrlPart = "protocol" | "username" | "password" | "hostname" | "port" | "pathname" | "search" | "hash";

/** Parts and pairs are JSON texts. */
export interface UrlHost {
  /** `UrlParts`; null for what is no URL. */
  parse(url: string, base: string | null): string | null;
  /** `UrlParts` with one of them changed, where it can be. */
  withPart(href: string, part: UrlPart, value: string): string;
  /** Names with their values, of a query with or without its "?". */
  pairs(query: string): string;
  query(pairs: string): string;
}

/** Makes an array of the context for so many bytes, which the host fills. */
export type AllocateBytes = (length: number) => Uint8Array;

/** The text of the next bytes; null where they are none in the decoder's encoding, and that is fatal. */
export type DecodeBytes = (bytes: Uint8Array, isStream: boolean) => string | null;

export interface TextHost {
  /** The text as UTF-8; returns how many bytes that is. */
  encode(text: string, allocate: AllocateBytes): number;
  /** As much of the text as fits; returns how many of its code units that is. */
  encodeInto(text: string, bytes: Uint8Array, setWritten: (bytes: number) => void): number;
  /** The name of an encoding by one of its labels; null for others. */
  encodingOf(label: string): string | null;
  openDecoder(encoding: string, isFatal: boolean, ignoresBom: boolean): DecodeBytes;
  /** Null for what is no base64. */
  atob(text: string): string | null;
  /** Null for text beyond Latin-1. */
  btoa(text: string): string | null;
}

/** A key of the host: an empty object that stands for it. */
export type HostKey = object;

/** Bytes in a JSON text. */
export interface BytesText {
  readonly bytes: readonly number[];
}

export interface AlgorithmText {
  readonly name: string;
  [parameter: string]: string | number | BytesText | AlgorithmText;
}

/** What a `CryptoKey` says of itself. */
export interface DescribedKey {
  readonly type: string;
  readonly extractable: boolean;
  readonly algorithm: Readonly<Record<string, string | number | BytesText | object>>;
  readonly usages: readonly string[];
}

/** An operation of `crypto.subtle`, with those of its arguments that are no bytes and no keys. */
export interface CryptoRequest {
  readonly operation:
    | "digest"
    | "encrypt"
    | "decrypt"
    | "sign"
    | "verify"
    | "generateKey"
    | "importKey"
    | "exportKey"
    | "deriveBits"
    | "deriveKey";
  readonly algorithm?: AlgorithmText;
  readonly derived?: AlgorithmText;
  readonly format?: string;
  readonly jwk?: object;
  readonly extractable?: boolean;
  readonly usages?: readonly string[];
  readonly length?: number | null;
}

export type CryptoOutcome =
  | { readonly error: { readonly name: string; readonly message: string } }
  /** Bytes, in the room that was made for them. */
  | { readonly allocated: true }
  | { readonly value: boolean | object }
  | { readonly key: DescribedKey }
  | { readonly publicKey: DescribedKey; readonly privateKey: DescribedKey };

export interface CryptoHost {
  fillRandom(bytes: Uint8Array): void;
  /** `request` is the JSON text of a `CryptoRequest`; `settle` is told that of its outcome, and the keys in it. */
  subtle(
    request: string,
    key: HostKey | null,
    publicKey: HostKey | null,
    data: Uint8Array | null,
    signature: Uint8Array | null,
    allocate: (length: number) => Uint8Array,
    settle: (outcome: string, first: HostKey | null, second: HostKey | null) => void,
  ): void;
}

/** What the classes of the web ask of the host; see `host.ts` for what may cross. */
export interface Host {
  readonly async: AsyncHost;
  readonly url: UrlHost;
  readonly text: TextHost;
  readonly crypto: CryptoHost;
  /** A clock that only runs forward, in milliseconds. */
  now(): number;
  /** Unix milliseconds. */
  dateNow(): number;
}

/** What modules find of time and chance while they are loaded: it is noted of each push. */
export interface LoadPhase {
  /** Unix milliseconds. */
  readonly ms: number;
  readonly seed: number;
}

/** What a context is given. None of these throws. */
export interface Surroundings {
  readonly host: Host;
  readonly kind: IsolateKind;
  readonly seed: number;
  readonly load: LoadPhase;
  /** When the transaction began in which a query or mutation runs, in Unix milliseconds; null for other kinds. */
  readonly transactionMs: number | null;
  /** JSON text of the variables. */
  readonly env: string;
  /** Told of the variables that are read and not there. */
  readonly missing: ((name: string) => void) | null;
  resolve(specifier: string, importer: string | null): Resolved;
  log(level: LogLevel, text: string): void;
  syscall(op: string, args: string): SyscallResult;
  asyncSyscall(op: string, args: string, resolve: (value: string) => void, reject: Reject): void;
  /** Answers with a JSON text, or with bytes that it has `allocate` make room for, and their type. */
  jsSyscall(
    op: string,
    args: string,
    blob: Uint8Array | null,
    blobType: string,
    allocate: AllocateBytes,
    resolve: (value: string, blobType: string | null) => void,
    reject: Reject,
  ): void;
  /** Sends one request, following nothing; returns what ends it. The heads are JSON texts. */
  fetch(
    head: string,
    body: SentBody,
    respond: (head: string, body: HostBody) => void,
    failed: (message: string) => void,
  ): () => void;
  startTimer(callback: () => void, delayMs: number, repeats: boolean): number;
  clearTimer(id: number): void;
}

export type SyscallResult = { readonly value: string } | { readonly message: string; readonly data: string | null };

/** Called once, with the JSON text of an `Outcome`. */
export type Settle = (outcome: string) => void;

/** What the host asks of a context. */
export interface IsolateApi {
  /** `identifier`s are those of modules. */
  inspect(identifier: string, view: View, settle: Settle): void;
  invoke(identifier: string, name: string, args: string, settle: Settle): void;
  /** Calls an HTTP action. The heads are JSON texts; `respond` is not called where the app's router has no route. */
  fetch(
    identifier: string,
    route: { readonly path: string; readonly method: string },
    head: string,
    body: HostBody | null,
    respond: (head: string, body: SentBody) => void,
    settle: Settle,
  ): void;
}

/** What the script of `entry.ts` exports. */
export interface IsolateEntry {
  open(surroundings: Surroundings): IsolateApi;
}
