/** What is wrong with a project, in the words that `npx convex dev` would have printed. */

/** The project cannot be deployed; the message is meant for whoever wrote it. */
export class DeployError extends Error {
  override readonly name = "DeployError";
}
