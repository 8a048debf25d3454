/** What a push changed, for the CLI's summary. */

import { allComponents, type ComponentInstance, type EvaluatedPush } from "./evaluated.ts";
import { indexDiffs } from "./index_diff.ts";

type Json = Record<string, unknown>;

const NO_INDEX_CHANGES = { added_indexes: [], removed_indexes: [] };

/** `FinishPushDiff.componentDiffs`. */
export function componentDiffs(push: EvaluatedPush, previous: EvaluatedPush | null): Record<string, Json> {
  const before = instances(previous);
  const after = instances(push);
  const indexes = indexDiffs(push, previous);
  const diffs: Record<string, Json> = {};
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    diffs[path] = diffOf(before.get(path), after.get(path), indexes[path] ?? NO_INDEX_CHANGES);
  }
  return diffs;
}

function instances(push: EvaluatedPush | null): Map<string, ComponentInstance> {
  return new Map(push ? [...allComponents(push.app)].map((instance) => [instance.componentPath, instance]) : []);
}

function diffOf(before: ComponentInstance | undefined, after: ComponentInstance | undefined, indexDiff: object): Json {
  const type = before === undefined ? "create" : after === undefined ? "unmount" : "modify";
  const [oldCrons, newCrons] = [cronNames(before), cronNames(after)];
  return {
    diffType: { type },
    moduleDiff: namesDiff(moduleNames(before), moduleNames(after)),
    udfConfigDiff: null,
    cronDiff: { ...renamed(namesDiff(oldCrons, newCrons)), updated: [] },
    indexDiff,
    schemaDiff: null,
  };
}

function renamed(diff: { added: string[]; removed: string[] }): { added: string[]; deleted: string[] } {
  return { added: diff.added, deleted: diff.removed };
}

function namesDiff(before: readonly string[], after: readonly string[]): { added: string[]; removed: string[] } {
  return {
    added: after.filter((name) => !before.includes(name)),
    removed: before.filter((name) => !after.includes(name)),
  };
}

function moduleNames(instance: ComponentInstance | undefined): string[] {
  return (instance?.definition.modules ?? []).map((module) => module.config.path);
}

function cronNames(instance: ComponentInstance | undefined): string[] {
  return (instance?.definition.modules ?? []).flatMap((module) => Object.keys(module.inspection.crons));
}
