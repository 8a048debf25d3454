/** The modules of a push, compiled once for all contexts. */

import vm from "node:vm";
import { SCRIPT_PARAMETERS, toScript, type IsolateScript } from "../../isolate_script.ts";
import type { ModuleFunction } from "../isolate/types.ts";

/** A module as it was pushed; one of ours comes with its script. */
export interface SourceModule {
  readonly environment: "isolate" | "node";
  readonly path: string;
  readonly source: string;
  readonly script?: IsolateScript;
}

export class CompiledModules {
  readonly #texts: ReadonlyMap<string, IsolateScript>;
  readonly #scripts = new Map<string, vm.Script>();

  private constructor(texts: ReadonlyMap<string, IsolateScript>) {
    this.#texts = texts;
  }

  /** Converts the modules that came without a script. Keys are the identifiers of modules. */
  static async of(modules: Iterable<readonly [string, SourceModule]>): Promise<CompiledModules> {
    const texts = new Map<string, IsolateScript>();
    for (const [identifier, { environment, path, source, script }] of modules) {
      if (environment === "node") continue;
      texts.set(identifier, script ?? (await toScript(await import("esbuild"), path, source)));
    }
    return new CompiledModules(texts);
  }

  has(identifier: string): boolean {
    return this.#texts.has(identifier);
  }

  in(context: vm.Context, identifier: string): ModuleFunction {
    let script = this.#scripts.get(identifier);
    if (!script) {
      const text = `(function ${SCRIPT_PARAMETERS} { "use strict";\n${this.#texts.get(identifier)!.code}\n})`;
      script = new vm.Script(text, { filename: identifier, lineOffset: -1 });
      this.#scripts.set(identifier, script);
    }
    return script.runInContext(context) as ModuleFunction;
  }

  /** Source maps from the scripts to the modules, by identifier. */
  maps(): Map<string, string> {
    return new Map([...this.#texts].flatMap(([identifier, { map }]) => (map === "" ? [] : [[identifier, map]])));
  }
}
