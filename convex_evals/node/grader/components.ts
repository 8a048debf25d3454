/** The components that a project's app has installed, and what these store. */
import { makeFunctionReference } from "convex/server";
import { convexToJson, type Value } from "convex/values";
import { adminClient, type GraderClient } from "./clients.ts";
import { askProject, pushedApp, type PushedComponent } from "./facts.ts";

/** One installed component. */
export interface InstalledComponent {
  /** Its name in `components`; "outer/inner" for one that another component has installed. */
  path: string;
  /** Name of the package that defines it, undefined for a component of the project's own. */
  package: string | undefined;
}

type ListedComponent = { id: string; path: string };

const list = makeFunctionReference<"query", Record<string, never>, ListedComponent[]>(
  "_system/frontend/components:list",
);
const listTables = makeFunctionReference<
  "query",
  { componentId: string; paginationOpts: { numItems: number; cursor: string | null } },
  { page: { name: string }[] }
>("_system/cli/tables");
const listTableScan = makeFunctionReference<"query", { componentId: string; table: string; limit: number }, Value[]>(
  "_system/frontend/listTableScan",
);

/** A package's folder in a path, of which the innermost counts: packages may have packages of their own. */
const PACKAGE = /.*(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)(?:\/|$)/;

/** All installed components, by path, as they were pushed: what the project's files say is not asked. */
export function listComponents(): Map<string, InstalledComponent> {
  return new Map(below(pushedApp()).map((component) => [component.path, component]));
}

function below({ childComponents }: PushedComponent): InstalledComponent[] {
  return Object.values(childComponents).flatMap((child) => [
    { path: child.componentPath, package: PACKAGE.exec(child.definitionPath)?.[1] },
    ...below(child),
  ]);
}

/**
 * Asserts that a component of this package is installed, and that `call` changes what it stores: an app that installs a
 * component and does its work by hand has not used it. `what` opens the message: "Posting a comment".
 */
export async function expectComponentUsed(
  packageName: string,
  what: string,
  call: () => Promise<unknown>,
): Promise<void> {
  const paths = [...listComponents().values()].flatMap(({ path, package: from }) =>
    from === packageName ? [path] : [],
  );
  if (paths.length === 0) throw new Error(`The app must install the component of \`${packageName}\``);
  const before = await stored(paths);
  await call();
  if ((await stored(paths)) === before) {
    throw new Error(`${what} must be kept in the component of \`${packageName}\`, which stores the same as before`);
  }
}

/** All documents in the tables of these components, as a text that can be compared. */
async function stored(paths: readonly string[]): Promise<string> {
  const client = adminClient();
  const components = (await askProject(list)).filter(({ path }) => paths.includes(path));
  const documents = await Promise.all(components.map(({ id }) => documentsOf(client, id)));
  return JSON.stringify(documents);
}

async function documentsOf(client: GraderClient, componentId: string): Promise<unknown[]> {
  const { page } = await client.query(listTables, { componentId, paginationOpts: { numItems: 100, cursor: null } });
  return await Promise.all(
    page.map(async ({ name }) =>
      convexToJson(await client.query(listTableScan, { componentId, table: name, limit: 1000 })),
    ),
  );
}
