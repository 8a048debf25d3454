/** Which component an HTTP request is for: https://docs.convex.dev/components/using#http-actions */

import type { ComponentInstance } from "../push/evaluated.ts";

export interface RoutedRequest {
  readonly componentPath: string;
  /** The path as the component's router knows it. */
  readonly route: string;
}

/** Follows mounts from the app down; the app's own routes come first. */
export function routeRequest(app: ComponentInstance, pathname: string): RoutedRequest {
  return route(app, pathname) ?? { componentPath: "", route: pathname };
}

function route(instance: ComponentInstance, pathname: string): RoutedRequest | null {
  const { httpPrefix, httpMounts } = instance.definition.export;
  const own = withoutPrefix(pathname, httpPrefix ?? "/");
  const http = instance.definition.modules.find((module) => module.name === "http");
  if (own !== null && http?.inspection.httpRoutes.some((candidate) => matches(candidate.path, own))) {
    return { componentPath: instance.componentPath, route: own };
  }
  for (const [prefix, reference] of Object.entries(httpMounts)) {
    const below = withoutPrefix(pathname, prefix);
    const child = instance.children.get(reference.replace(/^_reference\/childComponent\//, ""));
    if (below !== null && child) return route(child, below);
  }
  return own === null ? null : { componentPath: instance.componentPath, route: own };
}

// Routes by prefix are listed with a star at the end.
function matches(pattern: string, pathname: string): boolean {
  return pattern.endsWith("*") ? pathname.startsWith(pattern.slice(0, -1)) : pathname === pattern;
}

// Prefixes start and end with a slash.
function withoutPrefix(pathname: string, prefix: string): string | null {
  return pathname.startsWith(prefix) ? `/${pathname.slice(prefix.length)}` : null;
}
