/** Names of functions, as errors and logs have them. */

/** "dir/messages.js:send" */
export function canonicalPath({ udfPath }: { udfPath: string }): string {
  const [module = "", name = "default"] = udfPath.split(":");
  return `${module}.js:${name}`;
}
