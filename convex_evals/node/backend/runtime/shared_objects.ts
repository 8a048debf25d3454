/**
 * What this backend's own handlers are given of convex/server and convex-test. Functions of the app get theirs from the
 * convex/server in its bundle.
 */

import {
  actionGeneric,
  mutationGeneric,
  queryGeneric,
  type AnyDataModel,
  type GenericActionCtx,
  type GenericDatabaseReader,
} from "convex/server";
import { CommitTsPlaceholder, ConvexError } from "convex/values";
import { internals } from "embedded:convex-test";

type Context = Partial<Pick<GenericActionCtx<AnyDataModel>, "vectorSearch">> & {
  readonly db?: GenericDatabaseReader<AnyDataModel>;
};

/** Classes, or objects of them where they have no name to the outside. */
export function sharedObjects(): unknown[] {
  const found: unknown[] = [...internals.classes, ConvexError, CommitTsPlaceholder];
  for (const context of contexts()) found.push(context, ...builders(context));
  return found;
}

// Handlers are called at once; what they return is of no interest.
function contexts(): Context[] {
  const found: Context[] = [];
  const handler = (context: unknown): null => {
    found.push(context as Context);
    return null;
  };
  const { invokeQuery } = queryGeneric({ handler }) as unknown as { invokeQuery(args: string): Promise<unknown> };
  const { invokeMutation } = mutationGeneric({ handler }) as unknown as {
    invokeMutation(args: string): Promise<unknown>;
  };
  const { invokeAction } = actionGeneric({ handler }) as unknown as {
    invokeAction(requestId: string, args: string): Promise<unknown>;
  };
  void invokeQuery("[{}]");
  void invokeMutation("[{}]");
  void invokeAction("", "[{}]");
  if (found.length !== 3) throw new Error("convex/server calls handlers later than it did: their objects stay open");
  return found;
}

// The names of tables and fields mean nothing: no query is run.
function builders({ db, vectorSearch }: Context): unknown[] {
  const found: unknown[] = [];
  const seen = <T>(value: T): T => {
    found.push(value);
    return value;
  };
  if (db) {
    const query = (): ReturnType<typeof db.query> => seen(db.query("table"));
    seen(query().fullTableScan());
    query().withIndex("by_creation_time", (q) => seen(seen(q).eq("_creationTime", 1)));
    query().withSearchIndex("index" as never, (q) => seen(seen(q).search("field" as never, "text")));
    query().filter((q) => seen(seen(q).eq(q.field("field"), 1)));
  }
  if (vectorSearch) {
    // Refused, as nothing is running; its filter is made before.
    vectorSearch("table", "index" as never, {
      vector: [1],
      filter: (q) => seen(seen(q).eq("field" as never, 1 as never)),
    }).catch(() => {});
  }
  return found;
}
