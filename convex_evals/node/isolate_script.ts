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

/** What ends in this is an import at run time: one at the top of a module stands in a statement of its own. */
const RUN_TIME_IMPORT = /=> __toESM\(require\(/;

// `require` gives a namespace by then, and always the same.
const NAMESPACES = "\n__toESM = (namespace) => namespace;";

/** The parameters of the function around a script. */
export const SCRIPT_PARAMETERS = `(require, module, exports, ${META})`;

// get-convex/convex-backend crates/isolate/src/environment/helpers/module_loader.rs
const NO_TOP_LEVEL_AWAIT =
  'throw Object.assign(new Error("Top-level awaits in source files are unsupported"), { stack: "" });';

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
    return { code: RUN_TIME_IMPORT.test(code) ? code + NAMESPACES : code, map };
  } catch (error) {
    const { errors } = error as Partial<Esbuild.TransformFailure>;
    if (!errors) throw error;
    const message = errors[0]?.text ?? "";
    if (message.startsWith("Top-level await")) return { code: NO_TOP_LEVEL_AWAIT, map: "" };
    return { code: `throw new SyntaxError(${JSON.stringify(message)});`, map: "" };
  }
}
