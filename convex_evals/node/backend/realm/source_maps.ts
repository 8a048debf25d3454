/** Stack frames of bundled modules, told in terms of the sources that people wrote. */

import { SourceMap, type SourceMapPayload, type SourceOrigin } from "node:module";

// A frame as `runtime/error_text.ts` writes it: "(../convex/dir/messages.js:12:5)".
const FRAME = /\.\.\/convex\/([^\s():]+):(\d+):(\d+)/g;

const LIBRARY_FRAME = /^\s+at .*\/node_modules\/convex\/(?:src|dist)\/[^\s()]+:\d+:\d+\)?$/;

/** Source maps by module identifier ("convex:/messages.js"), parsed when first needed. */
export class SourceMaps {
  readonly #scripts: ParsedMaps;
  readonly #modules: ParsedMaps;

  /** `scripts` lead from what runs to the modules, and `modules` from there to their sources. */
  constructor(scripts: ReadonlyMap<string, string>, modules: ReadonlyMap<string, string>) {
    this.#scripts = new ParsedMaps(scripts);
    this.#modules = new ParsedMaps(modules);
  }

  /** Rewrites every frame that a map covers, without those of the library in the app's bundle. */
  translate(text: string): string {
    const lines = text.split("\n").map((line) => this.#translated(line));
    return lines.filter((line) => !LIBRARY_FRAME.test(line)).join("\n");
  }

  #translated(text: string): string {
    return text.replace(FRAME, (frame, path: string, line: string, column: string) => {
      const identifier = `convex:/${path}`;
      const inScript = this.#scripts.origin(identifier, Number(line), Number(column));
      const at = inScript ?? { lineNumber: Number(line), columnNumber: Number(column) };
      const origin = this.#modules.origin(identifier, at.lineNumber, at.columnNumber);
      if (origin) return `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`;
      return inScript ? `../convex/${path}:${at.lineNumber}:${at.columnNumber}` : frame;
    });
  }
}

class ParsedMaps {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #parsed = new Map<string, SourceMap | null>();

  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = texts;
  }

  origin(identifier: string, line: number, column: number): SourceOrigin | null {
    const entry = this.#mapOf(identifier)?.findOrigin(line, column);
    return entry && "fileName" in entry && typeof entry.fileName === "string" ? entry : null;
  }

  #mapOf(identifier: string): SourceMap | null {
    const known = this.#parsed.get(identifier);
    if (known !== undefined) return known;
    const parsed = parse(this.#texts.get(identifier));
    this.#parsed.set(identifier, parsed);
    return parsed;
  }
}

// Maps come with the push, from whoever sent it: a broken one is not ours to
// complain about.
function parse(text: string | undefined): SourceMap | null {
  try {
    return text === undefined ? null : new SourceMap(JSON.parse(text) as SourceMapPayload);
  } catch {
    return null;
  }
}
