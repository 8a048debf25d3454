/**
 * `process.env` of the app's code. The app sees the deployment's variables; a
 * component sees those that its parent binds, and nothing else.
 * https://docs.convex.dev/components/authoring
 */

import { AsyncLocalStorage } from "node:async_hooks";

export type Environment = Record<string, string>;

/** What a component's parent gives for one of its variables. */
export type EnvBinding =
  | { readonly type: "value"; readonly value: string }
  | { readonly type: "envVar"; readonly name: string };

/** What is asked of a component: which children it has, and what it gives them. */
export interface Parent {
  readonly definition: {
    readonly export: {
      readonly childComponents: readonly {
        readonly name: string;
        readonly env?: readonly (readonly [string, EnvBinding])[] | null;
      }[];
    };
  };
}

// While modules are evaluated, no function is running yet that could be asked.
const loading = new AsyncLocalStorage<string>();

/** Evaluates modules as code of the component at `componentPath`. */
export function loadingComponent<T>(componentPath: string, run: () => T): T {
  return loading.run(componentPath, run);
}

/** The environment of one context: which variables there are depends on whose code asks. */
export class ContextEnvironment {
  readonly variables: Environment;
  /** The component whose function is running. */
  runningComponent: () => string = () => "";
  components: ReadonlyMap<string, Parent> = new Map();

  constructor(app: Environment) {
    const current = (): Environment => {
      const path = loading.getStore() ?? this.runningComponent();
      return path === "" ? app : this.#boundTo(path, app);
    };
    // The target is empty: what a proxy says must not contradict its target.
    this.variables = new Proxy<Environment>(
      {},
      {
        get: (_empty, name) => Reflect.get(current(), name) as unknown,
        has: (_empty, name) => Reflect.has(current(), name),
        ownKeys: () => Reflect.ownKeys(current()),
        getOwnPropertyDescriptor: (_empty, name) => {
          const value = Reflect.get(current(), name) as unknown;
          return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: true };
        },
      },
    );
  }

  #boundTo(path: string, app: Environment): Environment {
    const at = path.lastIndexOf("/");
    const parentPath = at < 0 ? "" : path.slice(0, at);
    const parent = parentPath === "" ? app : this.#boundTo(parentPath, app);
    const child = this.components
      .get(parentPath)
      ?.definition.export.childComponents.find(({ name }) => name === path.slice(at + 1));
    const bound = (child?.env ?? []).map(
      ([name, binding]) => [name, binding.type === "value" ? binding.value : parent[binding.name]] as const,
    );
    return Object.fromEntries(bound.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
  }
}
