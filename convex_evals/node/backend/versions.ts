/** Version strings that clients and records see. */

/** Raised when the backend's rules change what passes. */
export const BACKEND_VERSION = "embedded-0.1.0";

/** The `convex` release whose protocol is spoken; reported as `udfServerVersion`. */
export const CONVEX_VERSION = "1.48.0";

export const INSTANCE_NAME = "carnitas";

/** The well-known key of the local development instance. */
export const ADMIN_KEY =
  "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd";
