/**
 * `DOMException`.
 *
 * https://webidl.spec.whatwg.org/#idl-DOMException
 * get-convex/convex-backend npm-packages/udf-runtime/src/01_dom_exception.ts
 */

import { defineConstants, defineInterface } from "./interface.ts";

// In the order of their codes, which begin with 1. Names without an error are left from older standards.
const CODES = [
  ["INDEX_SIZE_ERR", "IndexSizeError"],
  ["DOMSTRING_SIZE_ERR", null],
  ["HIERARCHY_REQUEST_ERR", "HierarchyRequestError"],
  ["WRONG_DOCUMENT_ERR", "WrongDocumentError"],
  ["INVALID_CHARACTER_ERR", "InvalidCharacterError"],
  ["NO_DATA_ALLOWED_ERR", null],
  ["NO_MODIFICATION_ALLOWED_ERR", "NoModificationAllowedError"],
  ["NOT_FOUND_ERR", "NotFoundError"],
  ["NOT_SUPPORTED_ERR", "NotSupportedError"],
  ["INUSE_ATTRIBUTE_ERR", "InUseAttributeError"],
  ["INVALID_STATE_ERR", "InvalidStateError"],
  ["SYNTAX_ERR", "SyntaxError"],
  ["INVALID_MODIFICATION_ERR", "InvalidModificationError"],
  ["NAMESPACE_ERR", "NamespaceError"],
  ["INVALID_ACCESS_ERR", "InvalidAccessError"],
  ["VALIDATION_ERR", null],
  ["TYPE_MISMATCH_ERR", "TypeMismatchError"],
  ["SECURITY_ERR", "SecurityError"],
  ["NETWORK_ERR", "NetworkError"],
  ["ABORT_ERR", "AbortError"],
  ["URL_MISMATCH_ERR", "URLMismatchError"],
  ["QUOTA_EXCEEDED_ERR", "QuotaExceededError"],
  ["TIMEOUT_ERR", "TimeoutError"],
  ["INVALID_NODE_TYPE_ERR", "InvalidNodeTypeError"],
  ["DATA_CLONE_ERR", "DataCloneError"],
] as const;

const codeOf: Record<string, number> = Object.create(null) as Record<string, number>;
CODES.forEach(([, name], at) => {
  if (name !== null) codeOf[name] = at + 1;
});

export class DOMException extends Error {
  declare readonly code: number;
  readonly #message: string;
  readonly #name: string;

  constructor(message: unknown = "", options: unknown = "Error") {
    super();
    this.#message = String(message);
    const isOptions = typeof options === "object" && options !== null;
    const { name, cause } = (isOptions ? options : { name: options }) as { name?: unknown; cause?: unknown };
    this.#name = name === undefined ? "Error" : String(name);
    if (isOptions && "cause" in options) Object.defineProperty(this, "cause", { value: cause, configurable: true });
  }

  // Accessors of the class, where `Error` declares properties.
  static {
    const accessors: Readonly<Record<string, (exception: DOMException) => unknown>> = {
      name: (exception) => exception.#name,
      message: (exception) => exception.#message,
      code: (exception) => codeOf[exception.#name] ?? 0,
    };
    for (const [name, read] of Object.entries(accessors)) {
      const get = function (this: DOMException): unknown {
        return read(this);
      };
      Object.defineProperty(this.prototype, name, { get, enumerable: true, configurable: true });
    }
  }
}

defineInterface(DOMException, "DOMException");
defineConstants(DOMException, Object.fromEntries(CODES.map(([constant], at) => [constant, at + 1])));
