/**
 * `URL`, whose parts the host finds and sets.
 *
 * get-convex/convex-backend npm-packages/udf-runtime/src/00_url.ts
 */

import { asked } from "../host.ts";
import type { UrlPart, UrlParts } from "../types.ts";
import { notImplemented } from "./not_implemented.ts";
import { usvString } from "./texts.ts";
import { ownedParams, URLSearchParams, type Owned } from "./url_search_params.ts";

export { URLSearchParams };

export class URL {
  #parts: UrlParts;
  #params: readonly [URLSearchParams, Owned] | undefined;

  constructor(url: string | URL, base?: string | URL) {
    const text = usvString(url);
    this.#parts = partsOfUrl(text, base === undefined ? null : usvString(base));
  }

  static canParse(url: string | URL, base?: string | URL): boolean {
    return URL.parse(url, base) !== null;
  }

  static parse(url: string | URL, base?: string | URL): URL | null {
    try {
      return new URL(url, base);
    } catch {
      return null;
    }
  }

  get href(): string {
    return this.#parts.href;
  }

  set href(value: string) {
    this.#parts = partsOfUrl(usvString(value), null);
    this.#params?.[1].replace(this.#parts.search);
  }

  get origin(): string {
    return this.#parts.origin;
  }

  get protocol(): string {
    return this.#parts.protocol;
  }

  set protocol(value: string) {
    this.#set("protocol", value);
  }

  get username(): string {
    return this.#parts.username;
  }

  set username(value: string) {
    this.#set("username", value);
  }

  get password(): string {
    return this.#parts.password;
  }

  set password(value: string) {
    this.#set("password", value);
  }

  get host(): string {
    return this.#parts.host;
  }

  set host(_value: string) {
    notImplemented("set host", "URL");
  }

  get hostname(): string {
    return this.#parts.hostname;
  }

  set hostname(value: string) {
    this.#set("hostname", value);
  }

  get port(): string {
    return this.#parts.port;
  }

  set port(value: string) {
    this.#set("port", value);
  }

  get pathname(): string {
    return this.#parts.pathname;
  }

  set pathname(value: string) {
    this.#set("pathname", value);
  }

  get search(): string {
    return this.#parts.search;
  }

  set search(value: string) {
    this.#set("search", value);
    this.#params?.[1].replace(this.#parts.search);
  }

  get searchParams(): URLSearchParams {
    if (!this.#params) {
      this.#params = ownedParams((query) => this.#set("search", query));
      this.#params[1].replace(this.#parts.search);
    }
    return this.#params[0];
  }

  get hash(): string {
    return this.#parts.hash;
  }

  set hash(value: string) {
    this.#set("hash", value);
  }

  toString(): string {
    return this.#parts.href;
  }

  toJSON(): string {
    return this.#parts.href;
  }

  #set(part: UrlPart, value: string): void {
    const { href } = this.#parts;
    const text = usvString(value);
    this.#parts = JSON.parse(asked(({ url }) => url.withPart(href, part, text))) as UrlParts;
  }
}
Object.defineProperty(URL.prototype, Symbol.toStringTag, { value: "URL", configurable: true });

/** The parts of a URL. Throws `TypeError` for what is none. */
export function partsOfUrl(url: string, base: string | null): UrlParts {
  const parts = parsed(url, base);
  if (parts) return parts;
  const wrong = base !== null && !parsed(base, null) ? base : url;
  throw new TypeError(`Invalid URL: '${wrong}'`);
}

function parsed(url: string, base: string | null): UrlParts | null {
  const parts = asked((host) => host.url.parse(url, base));
  return parts === null ? null : (JSON.parse(parts) as UrlParts);
}
