/** From a request line to an answer: what each operation takes and gives. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { DeployError } from "../push/deploy_error.ts";
import type { StartPushResponse } from "../push/official.ts";
import { writeFileAtomically } from "./output.ts";
import type { Terms } from "./terms.ts";

/** Answer to one request; `kind` says who is at fault: the project, the caller, or the checker. */
export type Answer =
  | { id: unknown; ok: true; result: unknown }
  | { id: unknown; ok: false; error: { kind: "deploy" | "bad_request" | "internal"; message: string } };

/** The caller asked for something that does not exist or left something out. */
class BadRequest extends Error {}

type Fields = Record<string, unknown>;
type Operation = (request: Fields) => Promise<unknown>;

function text(request: Fields, key: string): string {
  const value = request[key];
  if (typeof value !== "string" || value === "") {
    throw new BadRequest(`${String(request.op)}: '${key}' must be a string`);
  }
  return value;
}

function folder(request: Fields, key: string): string {
  const value = path.resolve(text(request, key));
  if (!statSync(value, { throwIfNoEntry: false })?.isDirectory()) {
    throw new BadRequest(`${String(request.op)}: '${key}' is not a folder: ${value}`);
  }
  return value;
}

function texts(request: Fields, key: string): string[] {
  const value = request[key] ?? [];
  if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) {
    throw new BadRequest(`${String(request.op)}: '${key}' must be a list of strings`);
  }
  return value as string[];
}

function terms(request: Fields): Terms {
  const { sources, strict = true } = request;
  if (typeof strict !== "boolean") throw new BadRequest(`${String(request.op)}: 'strict' must be a boolean`);
  return {
    strict,
    types: texts(request, "types"),
    ...(sources === undefined ? {} : { sources: text(request, "sources") }),
  };
}

// Each operation loads what it needs: a checker that only bundles never pays for TypeScript, and the other way round.
const OPERATIONS: Record<string, Operation> = {
  /**
   * {project, out, sources?} -> {functions, warnings}; the push request is written to `out`, and to `sources` which files
   * went into it, or may go into a page.
   */
  async bundle(request) {
    const out = text(request, "out");
    const { buildPush } = await import("../push/request.ts");
    const { request: push, sources, warnings } = await buildPush(folder(request, "project"));
    writeFileAtomically(out, JSON.stringify(push));
    if (request.sources !== undefined) writeFileAtomically(text(request, "sources"), JSON.stringify(sources));
    return { functions: push.functions, warnings };
  },

  /** {project, response} -> {written, sha256}; `response` is the file with the backend's answer to start_push. */
  async codegen(request) {
    const response = JSON.parse(readFileSync(text(request, "response"), "utf8")) as StartPushResponse;
    const { writeGenerated } = await import("../push/generated.ts");
    const project = folder(request, "project");
    const written = await writeGenerated(project, response);
    const hash = createHash("sha256");
    for (const file of written) hash.update(JSON.stringify([file, readFileSync(path.join(project, file), "utf8")]));
    return { written, sha256: hash.digest("hex") };
  },

  /** {project, sources?, strict?, types?} -> {ok, repairs, repaired, diagnostics, files}; `sources` is the file that `bundle` wrote */
  async typecheck(request) {
    const { typecheck } = await import("./typecheck.ts");
    return typecheck(folder(request, "project"), terms(request));
  },

  /** {project, sources?, strict?, types?} -> {ok, problems} */
  async lint(request) {
    const { lint } = await import("./lint.ts");
    return lint(folder(request, "project"), terms(request));
  },

  /** {suite, files} -> one {file, errors, inputs} for each file */
  async graders(request) {
    const { inspectGraders } = await import("./graders.ts");
    return await inspectGraders(folder(request, "suite"), texts(request, "files"));
  },

  /** {suite, files, packages} -> what is wrong with their types, one {file, line, column, code, message} for each error */
  async grader_types(request) {
    const { checkGraderTypes } = await import("./grader_types.ts");
    return checkGraderTypes(folder(request, "suite"), texts(request, "files"), texts(request, "packages"));
  },

  /** {suite, files} -> names of the packages that all of the files import */
  async grader_packages(request) {
    const { importedPackages } = await import("./graders.ts");
    return await importedPackages(folder(request, "suite"), texts(request, "files"));
  },

  /** {suite, grader, packages, out} -> {reason, self_contained}; `reason` is null where the compiled grader was written to `out` */
  async compile_grader(request) {
    const { compileGrader } = await import("./compile_grader.ts");
    const result = await compileGrader(text(request, "grader"), folder(request, "suite"), texts(request, "packages"));
    if ("reason" in result) return { reason: result.reason };
    writeFileAtomically(text(request, "out"), JSON.stringify(result.compiled));
    return { reason: null, self_contained: result.selfContained };
  },

  /** {} -> versions of what decides verdicts */
  async versions() {
    const { versions } = await import("./versions.ts");
    return versions();
  },
};

function parse(line: string): Fields {
  const request: unknown = JSON.parse(line);
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    throw new BadRequest("a request is a JSON object");
  }
  return request as Fields;
}

function failure(id: unknown, error: unknown): Answer {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof DeployError) return { id, ok: false, error: { kind: "deploy", message } };
  if (error instanceof BadRequest || error instanceof SyntaxError) {
    return { id, ok: false, error: { kind: "bad_request", message } };
  }
  console.error(error);
  return { id, ok: false, error: { kind: "internal", message } };
}

/** Answers one request line; never throws. */
export async function answer(line: string): Promise<Answer> {
  let id: unknown = null;
  try {
    const request = parse(line);
    id = request.id ?? null;
    const name = String(request.op);
    const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
    if (!operation) throw new BadRequest(`unknown op '${name}'; known: ${Object.keys(OPERATIONS).join(", ")}`);
    return { id, ok: true, result: await operation(request) };
  } catch (error) {
    return failure(id, error);
  }
}
