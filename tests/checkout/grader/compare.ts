import { expect } from "vitest";
import { z } from "zod";
import { answerAdminClient, responseAdminClient } from "./index";

const functionSpec = z.object({
  identifier: z.string(),
  functionType: z.enum(["Query", "Mutation", "Action"]),
  visibility: z.object({ kind: z.enum(["public", "internal"]) }),
  args: z.unknown(),
  returns: z.unknown(),
});
const httpSpec = z.object({ functionType: z.literal("HttpAction"), method: z.string(), path: z.string() });
const apiSpec = z.array(z.union([functionSpec, httpSpec]));

interface Client {
  query(reference: any, args: any): Promise<any>;
}

async function specOf(client: Client) {
  const spec = apiSpec.parse(await client.query("_system/cli/modules:apiSpec" as any, {}));
  const key = (entry: z.infer<typeof apiSpec>[number]) => ("identifier" in entry ? entry.identifier : `${entry.method} ${entry.path}`);
  return Object.fromEntries(spec.map((entry) => [key(entry), entry]));
}

/** The candidate has the answer's functions, with their kinds, visibilities and validators. */
export async function compareFunctionSpec(): Promise<void> {
  const [candidate, answer] = await Promise.all([specOf(responseAdminClient!), specOf(answerAdminClient!)]);
  expect(candidate).toEqual(answer);
}

const schema = z.object({
  tables: z.array(z.object({ tableName: z.string(), indexes: z.array(z.any()), stagedDbIndexes: z.array(z.any()), documentType: z.any() })),
  schemaValidation: z.boolean(),
});

async function schemaOf(client: Client) {
  const { active } = await client.query("_system/frontend/getSchemas" as any, { componentId: null });
  if (!active) return null;
  const byName = (a: { tableName: string }, b: { tableName: string }) => a.tableName.localeCompare(b.tableName);
  return schema.parse(JSON.parse(active)).tables.sort(byName);
}

export async function compareSchema(): Promise<void> {
  expect(await schemaOf(responseAdminClient!)).toEqual(await schemaOf(answerAdminClient!));
}
