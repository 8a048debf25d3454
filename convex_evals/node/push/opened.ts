/**
 * What a build opens, as esbuild says while it does. The names in its metafile are written for people: two things can have one
 * name there, and reading it does not tell a path from a query behind it or a namespace before it.
 */
import path from "node:path";
import type { OnLoadArgs, Plugin } from "esbuild";
import { shownPath } from "./project_fs.ts";

/** Namespaces of the official code's plugins whose modules are its own. */
const OURS = new Set(["convex-virtual-config", "server-only-stub", "async-hooks-shim", "wasm-stub"]);
/** A binary module, which the official code reads: its path is a file's. */
const WASM = "wasm-binary";
/** What esbuild adds without opening anything. */
const ADDED = /^<runtime>$|^<define:|^\(disabled\):/;

/** Files and modules that one build in `folder` opened; `plugin` has to be the first of the build's. */
export class Opened {
  readonly #folder: string;
  readonly #files = new Map<string, Set<string>>();
  readonly #ours = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  get plugin(): Plugin {
    return {
      name: "opened",
      setup: (bundle) => {
        bundle.onLoad({ filter: /.*/ }, (args) => {
          this.#add(args);
          return undefined;
        });
      },
    };
  }

  /** Absolute paths of all files. */
  get files(): string[] {
    return [...new Set([...this.#files.values()].flatMap((files) => [...files]))];
  }

  /** The files that have this name in the metafile or in messages: more than one where esbuild does not tell them apart. */
  filesOf(name: string): string[] {
    return [...(this.#files.get(name) ?? [])];
  }

  /** Absolute path of the file that the module of this name stands for, where it is one of the official code's. */
  standsFor(name: string): string | undefined {
    return this.#ours.get(name);
  }

  /** Whether no file has this name in the metafile, but something that the official code or esbuild adds. */
  isAdded(name: string): boolean {
    return !this.#files.has(name) && (this.#ours.has(name) || ADDED.test(name));
  }

  #add({ path: place, namespace, suffix, with: attributes }: OnLoadArgs): void {
    const isFile = namespace === "file";
    const name = `${isFile ? shownPath(this.#folder, place) : `${namespace}:${place}`}${suffix}`;
    const file = path.resolve(this.#folder, place);
    if (OURS.has(namespace)) this.#ours.set(name, file);
    if (!isFile && namespace !== WASM) return;
    // Imports leave the attributes out, and so does the input itself where nothing else has its name.
    const written = Object.entries(attributes).map(([key, value]) => `${key}: '${value}'`);
    for (const each of [name, `${name} with { ${written.join(", ")} }`]) {
      this.#files.set(each, (this.#files.get(each) ?? new Set()).add(file));
    }
  }
}
