/** From what vitest's runner kept of a run to the verdict. */
import type { File, Suite, Task, Test } from "@vitest/runner";
import {
  failureMessage,
  runError,
  type ReportedError,
  type RunError,
  type TestVerdict,
  type Verdict,
} from "./verdict.ts";

function fullName(test: Test): string {
  const names = [test.name];
  for (let suite = test.suite; suite && suite.type === "suite" && !("filepath" in suite); suite = suite.suite) {
    names.unshift(suite.name);
  }
  return names.join(" > ");
}

function testVerdict(test: Test, grader: string): TestVerdict {
  const { result, mode } = test;
  const duration_ms = Math.round((result?.duration ?? 0) * 100) / 100;
  const base = { name: fullName(test), duration_ms };
  switch (result?.state ?? mode) {
    case "pass":
      return { ...base, outcome: "passed", message: null };
    case "skip":
    case "todo":
      return { ...base, outcome: "skipped", message: (result as { note?: string } | undefined)?.note ?? null };
    case "fail":
      return { ...base, outcome: "failed", message: failureMessage(result?.errors ?? [], grader) };
    default:
      return { ...base, outcome: "failed", message: "the test did not finish" };
  }
}

function allTasks(tasks: Task[]): Task[] {
  return tasks.flatMap((task) => (task.type === "suite" ? [task, ...allTasks(task.tasks)] : [task]));
}

function suiteErrors(suite: Suite, grader: string): RunError[] {
  return ((suite.result?.errors ?? []) as ReportedError[]).map((error) => runError("collect", error, grader));
}

/** The verdict on a grader; `unhandled` are errors that no test waited for. */
export function collectVerdict(files: File[], unhandled: readonly ReportedError[], grader: string): Verdict {
  const tasks = files.flatMap((file) => allTasks(file.tasks));
  const tests = tasks.filter((task) => task.type === "test").map((test) => testVerdict(test, grader));
  const suites = tasks.filter((task) => task.type === "suite");
  const errors = [
    ...[...files, ...suites].flatMap((suite) => suiteErrors(suite, grader)),
    ...unhandled.map((error) => runError("unhandled", error, grader)),
  ];
  if (tests.length === 0 && errors.length === 0) {
    errors.push({ phase: "collect", message: "the grader has no tests", file: grader, line: null });
  }
  return { tests, errors };
}

/** Verdicts are kept, and must not differ between machines: paths are relative to the suite. */
export function withoutHostPaths({ tests, errors }: Verdict, suite: string): Verdict {
  const plain = (text: string): string => text.replaceAll(`${suite}/`, "");
  return {
    tests: tests.map((test) => ({ ...test, message: test.message === null ? null : plain(test.message) })),
    errors: errors.map((error) => ({ ...error, message: plain(error.message), file: error.file && plain(error.file) })),
  };
}
