/**
 * A module of Convex's default runtime as a script. Each call of a function gets a context of its own, and what V8
 * compiled of a script serves all contexts of a process; of a module it is compiled again for each.
 */
import type * as Esbuild from "esbuild";

export interface IsolateScript {
  /** The body of a function that takes `SCRIPT_PARAMETERS`. */
  readonly code: string;
  /** Source map from `code` to the module's text. */
  readonly map: string;
}

/** What is needed of esbuild. */
export type Transformer = Pick<typeof Esbuild, "transform">;

const META = "__importMeta";

const HELPERS = "__helpers";

/** esbuild's own functions between modules, by the name of ours in `backend/isolate/module_helpers.ts`. */
const REPLACED: Readonly<Record<string, string>> = {
  __export: "export",
  __reExport: "reExport",
  __toCommonJS: "toCommonJS",
  __toESM: "toESM",
};

/** The parameters of the function around a script. */
export const SCRIPT_PARAMETERS = `(require, module, exports, ${META}, ${HELPERS})`;

// get-convex/convex-backend crates/isolate/src/environment/helpers/module_loader.rs
const NO_TOP_LEVEL_AWAIT =
  'throw Object.assign(new Error("Top-level awaits in source files are unsupported"), { stack: "" });';

/**
 * Puts our functions in the place of esbuild's. These come first, and are the lines that nothing in the module was made into;
 * what they stand in keeps its lines, for the source map.
 */
function withOurHelpers(code: string, map: string): string {
  const { mappings } = JSON.parse(map) as { mappings: string };
  const lines = code.split("\n");
  const own = mappings === "" ? lines.length : /^;*/.exec(mappings)![0].length;
  let isInside = false;
  for (let at = 0; at < own; at += 1) {
    const line = lines[at]!;
    const name = /^var (__\w+) = /.exec(line)?.[1] ?? "";
    if (Object.hasOwn(REPLACED, name)) {
      lines[at] = `var ${name} = ${HELPERS}.${REPLACED[name]};`;
      isInside = !line.endsWith(";");
    } else if (isInside) {
      lines[at] = "";
      isInside = /^\s/.test(line);
    }
  }
  return lines.join("\n");
}

/** Converts the text of an ES module. One that cannot be converted becomes a script that throws what is wrong with it. */
export async function toScript({ transform }: Transformer, name: string, text: string): Promise<IsolateScript> {
  try {
    const { code, map } = await transform(text, {
      format: "cjs",
      target: "esnext",
      sourcefile: name,
      sourcemap: "external",
      sourcesContent: false,
      legalComments: "none",
      define: { "import.meta": `${META}.value`, require: "undefined", module: "undefined", exports: "undefined" },
      supported: { "dynamic-import": false },
      logLevel: "silent",
    });
    return { code: withOurHelpers(code, map), map };
  } catch (error) {
    const { errors } = error as Partial<Esbuild.TransformFailure>;
    if (!errors) throw error;
    const message = errors[0]?.text ?? "";
    if (message.startsWith("Top-level await")) return { code: NO_TOP_LEVEL_AWAIT, map: "" };
    return { code: `throw new SyntaxError(${JSON.stringify(message)});`, map: "" };
  }
}
