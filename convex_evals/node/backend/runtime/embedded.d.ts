// Specifiers that only the loader of the app's context resolves.

declare module "embedded:host" {
  // An ambient module cannot declare imports of relative paths: what they name would be `any`.
  export const host: import("../runtime_types.ts").RuntimeHost;
}

declare module "embedded:convex-test" {
  export interface FunctionPath {
    readonly componentPath: string;
    readonly udfPath: string;
  }

  export interface ResolvedFunction {
    readonly func: Record<string, unknown>;
    readonly args: unknown;
    readonly returns: unknown;
  }

  export interface ConvexTest {
    readonly convexGlobal: object;
    withIdentity(identity: import("../runtime_types.ts").UserIdentity): ConvexTest;
    queryFromPath(path: FunctionPath, args: unknown): Promise<unknown>;
    mutationFromPath(path: FunctionPath, args: unknown): Promise<unknown>;
    actionFromPath(path: FunctionPath, args: unknown): Promise<unknown>;
    fetch(path: string, init: RequestInit, route: string): Promise<Response>;
    runInComponent<T>(componentPath: string, handler: (ctx: TransactionCtx) => Promise<T>): Promise<T>;
    registerComponent(path: string, schema: unknown, modules: unknown): void;
  }

  export interface TransactionCtx {
    readonly db: import("convex/server").GenericDatabaseWriter<import("convex/server").AnyDataModel>;
    readonly storage: { store(blob: Blob): Promise<string> };
  }

  export function convexTest(options: { schema?: unknown; modules: unknown; transactionLimits: boolean }): ConvexTest;

  export const internals: {
    readonly executionContextStorage: import("node:async_hooks").AsyncLocalStorage<{ readonly componentPath: string }>;
    readonly convexGlobalStorage: import("node:async_hooks").AsyncLocalStorage<object>;
    runScheduledFunction(job: {
      db: unknown;
      jobId: string;
      componentPath: string;
      functionPath: FunctionPath;
      args: unknown;
      name: string;
    }): Promise<void>;
    resolveFunction(path: FunctionPath, type: "any"): Promise<ResolvedFunction>;
    validateValidator(validator: unknown, value: unknown): void;
  };
}
