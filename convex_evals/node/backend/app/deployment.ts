/** One pushed version of the app's code, ready to run. */

import type vm from "node:vm";
import { allComponents, findFunction, type ComponentInstance, type EvaluatedPush } from "../push/evaluated.ts";
import type { StartPushRequest } from "../push/request.ts";
import type { ContextEnvironment } from "../realm/environment.ts";
import type { AnalyzedFunction, ComponentSetup, Runtime, RuntimeEntry } from "../runtime_types.ts";
import type { CronJob } from "../crons.ts";

/** A context with our runtime inside, waiting for an app. */
export interface PreparedContext {
  readonly context: vm.Context;
  readonly entry: RuntimeEntry;
  readonly environment: ContextEnvironment;
}

export class Deployment {
  readonly push: EvaluatedPush;
  readonly runtime: Runtime;
  /** What was pushed: the modules can be loaded again from it. */
  readonly request: StartPushRequest;
  readonly #components: ReadonlyMap<string, ComponentInstance>;

  constructor(push: EvaluatedPush, { entry, environment }: PreparedContext, request: StartPushRequest) {
    this.push = push;
    this.request = request;
    this.#components = new Map([...allComponents(push.app)].map((instance) => [instance.componentPath, instance]));
    this.runtime = entry.createRuntime([...this.#components.values()].map(componentSetup));
    environment.runningComponent = () => this.runtime.currentComponent();
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

  /** Ends what runs in processes of its own. */
  close(): void {
    for (const node of this.push.processes) node.close();
  }

  crons(): CronJob[] {
    return [...this.#components.values()].flatMap(({ componentPath, definition }) => {
      const module = definition.modules.find((candidate) => candidate.name === "crons");
      const specs = Object.entries(module?.inspection.crons ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
      return specs.map(([name, spec]) => ({ componentPath, name, spec }));
    });
  }
}

function componentSetup(instance: ComponentInstance): ComponentSetup {
  const { definition } = instance;
  return {
    path: instance.componentPath,
    schema: definition.schema,
    modules: Object.fromEntries(instance.namespaces),
    functions: Object.fromEntries(definition.modules.map(({ name, inspection }) => [name, inspection.functions])),
  };
}

/** What the analysis of a push has found, as a text to compare. */
export function factsOf(push: EvaluatedPush): string {
  return JSON.stringify(
    [...push.definitions.values()].map(({ path, schema, modules, export: exported }) => [
      path,
      exported,
      schema,
      modules.map(({ name, inspection }) => [name, inspection]),
    ]),
  );
}
