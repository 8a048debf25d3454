import type { EvaluatedPush } from "../evaluated.ts";

/** Refuses a push by throwing `DeployError`; runs before anything of the running app changes. */
export type PushRule = (push: EvaluatedPush) => void;
