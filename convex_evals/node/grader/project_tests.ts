/** The candidate's own tests, run on an implementation that the grader chooses. */
import { randomInt } from "node:crypto";
import { copyProject, runProgram } from "./programs.ts";

export interface ProjectTestsOptions {
  timeoutMs?: number;
}

/** What came of one run of the project's tests. */
export interface ProjectTests {
  /** Whether vitest said so by its exit code, which is all that a verdict may go by. */
  passed: boolean;
  timedOut: boolean;
  /** The end of what it printed: the project's own word, for messages. */
  printed: string;
}

/**
 * Runs the project's vitest once, as `npx vitest run` does, in a copy of the project with other files. Each run is a process of
 * its own in a folder with a name that says nothing: no run knows of another one. Vitest's reports are the project's to write, so
 * that none is read: ask for one answer, yes or no, with each run. There are no other options: a run that is started differently from
 * another tells the project which of them it is.
 */
export async function runProjectTests(
  files: Readonly<Record<string, string | null>>,
  options: ProjectTestsOptions = {},
): Promise<ProjectTests> {
  const { timeoutMs = 40_000 } = options;
  const folder = copyProject(files);
  const vitest = "node_modules/vitest/vitest.mjs";
  const { code, timedOut, stdout, stderr } = await runProgram([process.execPath, vitest, "run"], {
    folder,
    timeoutMs,
    maxBytes: 100_000,
  });
  const printed = `${stdout}\n${stderr}`.replaceAll(`${folder}/`, "").trim();
  return { passed: code === 0, timedOut, printed: printed.slice(-4000) };
}

/** Calls `ask` for each question, in random order and two at a time; the answers by question. */
export async function askInRandomOrder<T>(
  questions: readonly string[],
  ask: (question: string) => Promise<T>,
): Promise<Map<string, T>> {
  const waiting = shuffled(questions);
  const answers = new Map<string, T>();
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) answers.set(next, await ask(next));
  };
  await Promise.all([worker(), worker()]);
  return answers;
}

function shuffled<T>(list: readonly T[]): T[] {
  const mixed = [...list];
  for (let last = mixed.length - 1; last > 0; last -= 1) {
    const other = randomInt(last + 1);
    [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
  }
  return mixed;
}

const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const word = (): string => Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]!).join("");

/** A function that nobody calls. */
function decoy(): string {
  const [name, a, b] = [word(), word(), word()];
  const [x, y] = [randomInt(2, 100), randomInt(2, 100)];
  return shuffled([
    `function ${name}(${a}: number, ${b}: number) { return ${a} * ${x} < ${b} + ${y} && ${b} < ${a}; }`,
    `const ${name} = (${a}: { from: number; to: number }) => ${a}.from <= ${x} || ${a}.to >= ${y};`,
    `async function ${name}(${a}: { user: string }[]) { return ${a}.filter((${b}) => ${b}.user !== "${word()}").length === ${x}; }`,
  ])[0]!;
}

/**
 * The same program in other words, different each time: with other names, another layout, whole numbers (of two digits and more) written
 * in other ways, and functions that nobody calls. So no test passes for knowing the text of an implementation.
 */
export async function disguise(source: string): Promise<string> {
  const numbers = source.replace(/(?<![\w.$"'`])[1-9]\d+(?![\w.])/g, (digits) => {
    const base = randomInt(3, 37);
    return `parseInt("${Number(digits).toString(base)}", ${base})`;
  });
  // Behind the imports, which come first, and in front of everything else.
  const decoys = Array.from({ length: randomInt(2, 6) }, decoy).join("\n");
  const text = randomInt(2) === 0 ? `${numbers}\n${decoys}` : `${decoys}\n${numbers}`;
  const { transform } = await import("esbuild");
  const { code } = await transform(text, {
    loader: "ts",
    minifyIdentifiers: true,
    minifyWhitespace: randomInt(2) === 0,
    target: "esnext",
    tsconfigRaw: {},
  });
  return code;
}
