/**
 * `atob` and `btoa`.
 * get-convex/convex-backend crates/isolate/src/ops/text.rs
 */

import { asked } from "../host.ts";
import { DOMException } from "./dom_exception.ts";

const OUTSIDE_OF_BASE64 = /[^\t\n\f\r +/0-9=A-Za-z]/;

export function atob(...args: readonly unknown[]): string {
  const text = textOf(args);
  const decoded = asked((host) => host.text.atob(text));
  if (decoded === null) throw refused("atob", whyNotBase64(text));
  return decoded;
}

export function btoa(...args: readonly unknown[]): string {
  const text = textOf(args);
  const encoded = asked((host) => host.text.btoa(text));
  if (encoded === null) {
    throw refused("btoa", "The string to be encoded contains characters outside of the Latin1 range.");
  }
  return encoded;
}

// Web APIs have it so.
Object.defineProperty(atob, "length", { value: 1, configurable: true });
Object.defineProperty(btoa, "length", { value: 1, configurable: true });

function textOf(args: readonly unknown[]): string {
  if (args.length === 0) throw new TypeError('The "input" argument must be specified');
  return String(args[0]);
}

function refused(name: string, why: string): DOMException {
  return new DOMException(`Failed to execute '${name}': ${why}`, "InvalidCharacterError");
}

function whyNotBase64(text: string): string {
  const at = text.search(OUTSIDE_OF_BASE64);
  if (at < 0) return "Encoded text cannot have a 6-bit remainder.";
  return `Invalid byte ${text.charCodeAt(at)}, offset ${at}.`;
}
