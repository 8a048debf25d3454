/** Where the candidate runs: everything a grader knows about it comes from four environment variables. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The well-known admin key of the local development instance "carnitas". */
export const ADMIN_KEY =
  "0135d8598650f8f5cb0f30c34ec2e2bb62793bc28717c8eb6fb577996d50be5f4281b59181095065c5d0f86a2c31ddbe9b597ec62b47ded69782cd";

type GraderVariable = "CONVEX_PORT" | "CONVEX_SITE_PORT" | "CONVEX_ANSWER_PORT" | "MODEL_OUTPUT_DIR";

function required(name: GraderVariable): string {
  const value = process.env[name];
  if (value === undefined || value === "") {
    throw new Error(`${name} is not set: this grader was started outside the tester, or its eval is static`);
  }
  return value;
}

/** Address of the backend that runs the candidate's project. */
export function candidateUrl(): string {
  return `http://localhost:${required("CONVEX_PORT")}`;
}

/** Address of the backend that runs the eval's reference answer. */
export function answerUrl(): string {
  return `http://localhost:${required("CONVEX_ANSWER_PORT")}`;
}

/** Address of one of the candidate's HTTP actions: `siteUrl("/hello")`. */
export function siteUrl(path = ""): string {
  return `http://localhost:${required("CONVEX_SITE_PORT")}${path}`;
}

/** Folder of the candidate's project, with its `node_modules`. */
export function projectDir(): string {
  return required("MODEL_OUTPUT_DIR");
}

/** Text of one of the project's files; the error of a missing one names the file as the task does. */
export function readProjectFile(path: string): string {
  try {
    return readFileSync(join(projectDir(), path), "utf8");
  } catch {
    throw new Error(`The project must contain a readable file \`${path}\``);
  }
}
