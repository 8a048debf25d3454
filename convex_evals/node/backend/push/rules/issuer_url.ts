/** URLs of providers. get-convex/convex-backend crates/common/src/auth.rs (deserialize_issuer_url) */

import { TOP_LEVEL_DOMAINS } from "./top_level_domains.ts";

// `\w` as Rust's regular expressions have it.
const SCHEME = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_C}]+:\/\//u;
const NO_URL = "Does not look like a URL (must have a scheme or end with a top-level domain)";

/** Why Convex refuses a provider's `domain` or `issuer`, or null. */
export function issuerUrlProblem(text: string): string | null {
  const problem = reasonAgainst(text);
  return problem === null ? null : `Invalid provider domain URL "${text}": ${problem}`;
}

function reasonAgainst(text: string): string | null {
  if (text.startsWith('"')) return 'starts with a double quote (")';
  const hasScheme = SCHEME.test(text);
  const url = URL.parse(hasScheme ? text : `https://${text}`);
  if (!url) return parseError(text.replace(SCHEME, ""));
  if (url.protocol !== "http:" && url.protocol !== "https:") return "scheme should be http or https";
  return hasScheme || endsWithTopLevelDomain(url.hostname) ? null : NO_URL;
}

function endsWithTopLevelDomain(host: string): boolean {
  const dot = host.lastIndexOf(".");
  return host === "localhost" || (dot >= 0 && TOP_LEVEL_DOMAINS.has(host.slice(dot + 1)));
}

// Node does not say what is wrong: in the words of Rust's `url` crate.
function parseError(afterScheme: string): string {
  const authority = (/^[/\\]*([^/\\?#]*)/.exec(afterScheme)?.[1] ?? "").replace(/^.*@/, "");
  const [, host = "", port = ""] = /^(\[[^\]]*\]?|[^:]*)(?::(.*))?$/s.exec(authority) ?? [];
  if (host === "") return "empty host";
  if (host.startsWith("[")) return URL.canParse(`https://${host}`) ? "invalid port number" : "invalid IPv6 address";
  if (URL.canParse(`https://${host}`) && port !== "") return "invalid port number";
  return /(^|\.)(\d+|0x[\da-f]*)\.?$/i.test(host) ? "invalid IPv4 address" : "invalid international domain name";
}
