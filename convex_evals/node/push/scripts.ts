/**
 * Scripts of bundled modules (`isolate_script.ts`), kept for other projects: most bundles contain the same part of the
 * `convex` package. What is kept is made of nothing but the name and the text that it is kept under.
 */
import { toScript, type IsolateScript, type Transformer } from "../isolate_script.ts";

// Modules of a project's own are small, and no other project has them.
const WORTH_KEEPING = 20_000;
const MOST_KEPT = 40;
const LONGEST_KEPT = 500_000;

const kept = new Map<string, Promise<IsolateScript>>();

/** The script of a module; rejects where esbuild itself fails. */
export async function scriptOf(esbuild: Transformer, name: string, text: string): Promise<IsolateScript> {
  if (text.length < WORTH_KEEPING || text.length > LONGEST_KEPT) return await toScript(esbuild, name, text);
  const key = `${name}\n${text}`;
  const known = kept.get(key) ?? toScript(esbuild, name, text);
  // The one that was used last comes last.
  kept.delete(key);
  kept.set(key, known);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
  try {
    return await known;
  } catch (error) {
    kept.delete(key);
    throw error;
  }
}
