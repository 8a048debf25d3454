/** The processes of a deployment's "use node" modules: one for the app, and one for each component that has such modules. */

import { NodeProcess, type NodeHost } from "./node_process.ts";

export class NodeProcesses {
  readonly #host: Omit<NodeHost, "env">;
  readonly #env: (componentPath: string) => NodeHost["env"];
  readonly #processes = new Map<string, NodeProcess>();
  readonly #retired = new Set<NodeProcess>();

  constructor(host: Omit<NodeHost, "env">, env: (componentPath: string) => ReturnType<NodeHost["env"]>) {
    this.#host = host;
    this.#env = (componentPath) => () => env(componentPath);
  }

  of(componentPath: string): NodeProcess {
    let process = this.#processes.get(componentPath);
    if (!process) {
      process = new NodeProcess({ ...this.#host, env: this.#env(componentPath) });
      this.#processes.set(componentPath, process);
    }
    return process;
  }

  /** From now on modules are loaded by new processes; what runs comes to its end. */
  renew(): void {
    for (const process of this.#processes.values()) {
      this.#retired.add(process);
      process.retire(() => this.#retired.delete(process));
    }
    this.#processes.clear();
  }

  /** Ends them, for good. */
  close(): void {
    for (const process of [...this.#processes.values(), ...this.#retired]) process.close();
  }
}
