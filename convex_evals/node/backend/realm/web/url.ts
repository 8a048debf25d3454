/** The host's side of `isolate/web/url.ts`. */

import type { UrlHost, UrlParts } from "../../isolate/types.ts";

export const URL_HOST: UrlHost = {
  parse: (url, base) => {
    const parsed = URL.parse(url, base ?? undefined);
    return parsed && partsOf(parsed);
  },
  withPart: (href, part, value) => {
    const url = new URL(href);
    url[part] = value;
    return partsOf(url);
  },
  pairs: (query) => JSON.stringify([...new URLSearchParams(query)]),
  query: (pairs) => new URLSearchParams(JSON.parse(pairs) as [string, string][]).toString(),
};

function partsOf(url: URL): string {
  const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = url;
  const parts: UrlParts = { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash };
  return JSON.stringify(parts);
}
