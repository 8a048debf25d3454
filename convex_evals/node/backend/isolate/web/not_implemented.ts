/** What Convex's default runtime has only to say that it cannot do it. */

const ADVICE = "Consider calling an action defined in Node.js instead (https://docs.convex.dev/functions/actions).";

/** get-convex/convex-backend npm-packages/udf-runtime/src/helpers.ts */
export function notImplemented(operation: string, className: string): never {
  throw new Error(`Not implemented: ${operation} for ${className}. ${ADVICE}`);
}
