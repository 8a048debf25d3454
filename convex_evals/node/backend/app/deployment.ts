/** One pushed version of the app's code, ready to run. */

import { randomInt } from "node:crypto";
import type vm from "node:vm";
import type { AuthProvider } from "../auth_providers.ts";
import { allComponents, findFunction, type ComponentInstance, type EvaluatedPush } from "../push/evaluated.ts";
import type { Syscalls } from "../realm/isolate.ts";
import type { AnalyzedFunction, ComponentSetup, Runtime, RuntimeEntry } from "../runtime_types.ts";
import type { CronJob } from "../crons.ts";
import type { LoadPhase } from "../isolate/types.ts";
import type { StartPushRequest } from "../push/request.ts";
import type { ModulePlace } from "../push/app_code.ts";

/** A context with the engine inside, waiting for an app. */
export interface PreparedContext {
  readonly context: vm.Context;
  readonly entry: RuntimeEntry;
}

/** What a push is loaded with, unless it was loaded before. */
export function newLoadPhase(): LoadPhase {
  return { ms: Date.now(), seed: randomInt(2 ** 32) };
}

/** What the app's code calls of the engine in `context`. */
export function syscallsOf(context: vm.Context): Syscalls {
  const engine = (): Syscalls => context["Convex"] as Syscalls;
  return {
    syscall: (op, args) => engine().syscall(op, args),
    asyncSyscall: (op, args) => engine().asyncSyscall(op, args),
    jsSyscall: (op, args) => engine().jsSyscall(op, args),
  };
}

export class Deployment {
  /** The push as it came. */
  readonly pushed: StartPushRequest;
  readonly load: LoadPhase;
  readonly push: EvaluatedPush;
  readonly runtime: Runtime;
  /** What `auth.config` exports. */
  authConfig: unknown;
  readonly #components: ReadonlyMap<string, ComponentInstance>;

  constructor(pushed: StartPushRequest, load: LoadPhase, push: EvaluatedPush, { entry }: PreparedContext) {
    this.pushed = pushed;
    this.load = load;
    this.push = push;
    this.authConfig = push.app.definition.authConfig;
    this.#components = new Map([...allComponents(push.app)].map((instance) => [instance.componentPath, instance]));
    this.runtime = entry.createRuntime([...this.#components.values()].map(componentSetup), {
      call: async (componentPath, name, fn, args) =>
        JSON.stringify(await push.code.call(this.#place(componentPath, name), fn, args)),
      fetch: async (componentPath, route, request) =>
        await push.code.fetch(this.#place(componentPath, "http"), route, request),
    });
  }

  #place(componentPath: string, name: string): ModulePlace {
    const definition = this.#components.get(componentPath)?.definition;
    const module = definition?.modules.find((candidate) => candidate.name === name)?.config;
    if (!definition || !module) throw new Error(`${componentPath} has no module ${name}`);
    return { componentPath, definitionPath: definition.path, module };
  }

  component(componentPath: string): ComponentInstance | undefined {
    return this.#components.get(componentPath);
  }

  components(): Iterable<ComponentInstance> {
    return this.#components.values();
  }

  /** The function behind `module:name` of a component, or null. */
  function(componentPath: string, udfPath: string): AnalyzedFunction | null {
    const instance = this.#components.get(componentPath);
    return instance ? findFunction(instance.definition, udfPath) : null;
  }

  /** Who may say who a caller is. */
  authProviders(): readonly AuthProvider[] {
    const config = this.authConfig as { providers?: readonly AuthProvider[] } | null | undefined;
    return config?.providers ?? [];
  }

  /** Ends what runs in processes of its own. */
  close(): void {
    this.push.code.close();
  }

  crons(): CronJob[] {
    return [...this.#components.values()].flatMap(({ componentPath, definition }) => {
      const module = definition.modules.find((candidate) => candidate.name === "crons");
      const specs = Object.entries(module?.inspection.crons ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
      return specs.map(([name, spec]) => ({ componentPath, name, spec }));
    });
  }
}

function componentSetup({ componentPath, definition }: ComponentInstance): ComponentSetup {
  const { schema, modules } = definition;
  return {
    path: componentPath,
    schema,
    functions: Object.fromEntries(modules.map(({ name, inspection }) => [name, inspection.functions])),
    hasRouter: modules.some(({ name, inspection }) => name === "http" && inspection.defaultExport === "router"),
  };
}
