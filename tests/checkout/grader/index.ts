import { ConvexClient, ConvexHttpClient } from "convex/browser";
import slugify from "slugify";
import { ADMIN_KEY } from "./admin";

export { compareFunctionSpec, compareSchema } from "./compare";
export { readOutput, parseOutput, outputFolder, outputPackage } from "./output";
export { ADMIN_KEY };

export const siteUrl = `http://127.0.0.1:${process.env.CONVEX_SITE_PORT}`;

function adminClient(port: string | undefined): ConvexClient {
  const client = new ConvexClient(`http://0.0.0.0:${port}`);
  (client as any).setAdminAuth(ADMIN_KEY);
  return client;
}

/** Clients over WebSocket, with the rights of the dashboard. */
export const responseAdminClient = process.env.CONVEX_PORT ? adminClient(process.env.CONVEX_PORT) : null;
export const answerAdminClient = process.env.CONVEX_ANSWER_PORT ? adminClient(process.env.CONVEX_ANSWER_PORT) : null;

/** The candidate as anybody on the internet may call it. */
export const responseClient = process.env.CONVEX_PORT ? new ConvexClient(`http://localhost:${process.env.CONVEX_PORT}`) : null;

export function httpAdminClient(): ConvexHttpClient {
  const client = new ConvexHttpClient(`http://127.0.0.1:${process.env.CONVEX_PORT}`, { logger: false });
  (client as any).setAdminAuth(ADMIN_KEY);
  return client;
}

export const slug = (title: string): string => slugify(title, { lower: true, strict: true });

export async function addDocuments(table: string, documents: Record<string, unknown>[]): Promise<void> {
  await responseAdminClient!.mutation("_system/frontend/addDocument" as any, { table, documents });
}

export async function listTable(table: string, limit = 32): Promise<any[]> {
  return await responseAdminClient!.query("_system/frontend/listTableScan" as any, { table, limit });
}

/** Deletes everything in the tables of the candidate, page by page. */
export async function clearTables(...tables: string[]): Promise<void> {
  for (const tableName of tables) {
    let cursor: string | null = null;
    for (;;) {
      const { continueCursor, hasMore }: { continueCursor: string; hasMore: boolean } = await responseAdminClient!.mutation(
        "_system/frontend/clearTablePage" as any,
        { tableName, cursor },
      );
      if (!hasMore) break;
      cursor = continueCursor;
    }
  }
}
