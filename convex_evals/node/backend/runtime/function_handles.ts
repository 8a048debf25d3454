/** https://docs.convex.dev/components/authoring#function-handles, get-convex/convex-backend crates/model/src/components/handles.rs */

import { host } from "embedded:host";

interface FunctionPath {
  readonly componentPath: string;
  readonly udfPath: string;
}

/** A handle for a function that the caller may call itself. */
export async function createFunctionHandle(
  { componentPath, udfPath }: FunctionPath,
  resolve: () => Promise<unknown>,
): Promise<string> {
  await resolve().catch(() => {
    throw notFound();
  });
  const [module = "", name = "default"] = udfPath.split(":");
  return host.functionHandle(`${componentPath};${module}:${name}`);
}

/** The function of a handle, internal or not. */
export function parseFunctionHandle(handle: unknown): FunctionPath {
  const fn = typeof handle === "string" ? host.functionOfHandle(handle) : null;
  if (fn === null) throw notFound();
  const [componentPath = "", udfPath = ""] = fn.split(";");
  return { componentPath, udfPath };
}

function notFound(): Error {
  return new Error("Function handle not found");
}
