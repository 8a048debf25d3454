/**
 * Which component an HTTP request is for.
 *
 * https://docs.convex.dev/components/using#http-actions
 * get-convex/convex-backend crates/application/src/application_function_runner/http_routing.rs
 */

import type { ComponentInstance } from "../push/evaluated.ts";
import type { HttpRouteSpec } from "../runtime_types.ts";

export interface RoutedRequest {
  readonly componentPath: string;
  /** The path as the component's router knows it. */
  readonly route: string;
}

/**
 * Follows mounts from the app down: an exact route of a component comes first, then the longest of its prefixes and mounts.
 * Null where the component that is reached has neither routes nor mounts.
 */
export function routeRequest(app: ComponentInstance, pathname: string, method: string): RoutedRequest | null {
  // A request for the head alone is one for the whole, of which the body is not sent.
  return routed(app, pathname, method === "HEAD" ? "GET" : method);
}

function routed(instance: ComponentInstance, pathname: string, method: string): RoutedRequest | null {
  const { httpPrefix, httpMounts } = instance.definition.export;
  const http = instance.definition.modules.find((module) => module.name === "http");
  if (!http && Object.keys(httpMounts).length === 0) return null;
  const own = withoutPrefix(pathname, httpPrefix ?? "/");
  const routes = own === null ? [] : (http?.inspection.httpRoutes.filter((route) => route.method === method) ?? []);
  const here = own !== null && http ? { componentPath: instance.componentPath, route: own } : null;
  if (here && routes.some(({ path }) => path === own)) return here;
  const mounts = Object.entries(httpMounts).filter(([prefix]) => pathname.startsWith(prefix));
  const [mount] = mounts.sort(([a], [b]) => b.length - a.length);
  if (!mount || longestPrefix(routes, own ?? "") > mount[0].length) return here;
  const child = instance.children.get(mount[1].replace(/^_reference\/childComponent\//, ""));
  return child ? routed(child, withoutPrefix(pathname, mount[0])!, method) : null;
}

/** The length of the longest prefix that `pathname` is routed by; 0 where there is none. */
function longestPrefix(routes: readonly HttpRouteSpec[], pathname: string): number {
  // Routes by prefix are listed with a star at the end.
  const prefixes = routes.filter(({ path }) => path.endsWith("*")).map(({ path }) => path.slice(0, -1));
  return Math.max(0, ...prefixes.filter((prefix) => pathname.startsWith(prefix)).map(({ length }) => length));
}

// Prefixes start and end with a slash.
function withoutPrefix(pathname: string, prefix: string): string | null {
  return pathname.startsWith(prefix) ? `/${pathname.slice(prefix.length)}` : null;
}
