/** `convex-evals/grader`: what graders are written with. docs/writing-evals.md shows how. */
import { closeAll } from "./closing.ts";

export { closeAll, closeAfterRun } from "./closing.ts";
export { ADMIN_KEY, answerUrl, candidateUrl, projectDir, readProjectFile, siteUrl } from "./connection.ts";
export { adminClient, anonymousClient, answerClient, clientAs, GraderClient } from "./clients.ts";
export type { Caller, Watch } from "./clients.ts";
export { addDocuments, clearTables, listTable, ownFields } from "./documents.ts";
export type { StoredDocument } from "./documents.ts";
export { expectSameSchema, readSchema, schemaDifferences } from "./schema.ts";
export type { SchemaComparison, TableSchema } from "./schema.ts";
export { expectFunctions, expectSameFunctions, functionDifferences, listFunctions } from "./functions.ts";
export type { FunctionComparison, FunctionExpectation, FunctionSpec } from "./functions.ts";
export { listCrons, scheduleText } from "./crons.ts";
export type { CronJob, ReportedSchedule } from "./crons.ts";
export { eventually } from "./eventually.ts";
export type { Patience } from "./eventually.ts";
export { openPage, Page, UNREACHABLE } from "./page.ts";
export type { PageOptions } from "./page.ts";
export { expectError, expectNotCallable } from "./refusals.ts";
export type { Refusal } from "./refusals.ts";
export { findCalls, findImports, listSources } from "./source.ts";
export type { SourceCall, SourceImport } from "./source.ts";
export { unionMembers, validatorDifferences, validatorText } from "./validators.ts";

// Inside the tester everything is closed after the last test; elsewhere (the library's own tests) vitest refuses to load.
if (process.env["VITEST"] !== undefined) {
  const { afterAll, chai } = await import("vitest");
  afterAll(closeAll);
  // "expected [ Array(3) ] to deeply equal [ Array(3) ]" helps nobody.
  chai.config.truncateThreshold = 500;
}
