import assert from "node:assert/strict";
import { test } from "node:test";
import { defineSchema, defineTable } from "convex/server";
import type { GenericSchema, SchemaDefinition } from "convex/server";
import { v } from "convex/values";
import { schemaDifferences } from "../schema.ts";
import type { SchemaComparison, TableSchema } from "../schema.ts";

function tables(schema: SchemaDefinition<GenericSchema, boolean>): TableSchema[] {
  const exported = (schema as unknown as { export(): string }).export();
  return (JSON.parse(exported) as { tables: TableSchema[] }).tables;
}

const message = { author: v.string(), body: v.string(), vector: v.array(v.number()) };
const answer = tables(
  defineSchema({
    messages: defineTable(message)
      .index("by_author", ["author"])
      .searchIndex("search_body", { searchField: "body", filterFields: ["author"] })
      .vectorIndex("by_vector", { vectorField: "vector", dimensions: 8 }),
    users: defineTable({ name: v.string() }),
  }),
);

function differences(schema: SchemaDefinition<GenericSchema, boolean>, comparison?: SchemaComparison): string[] {
  return schemaDifferences(tables(schema), answer, comparison);
}

test("order, index names and further tables and indexes are no differences", () => {
  const schema = defineSchema({
    extra: defineTable({ a: v.any() }),
    users: defineTable({ name: v.string() }).index("more", ["name"]),
    messages: defineTable({ vector: v.array(v.float64()), body: v.string(), author: v.string() })
      .vectorIndex("vectors", { vectorField: "vector", dimensions: 8 })
      .searchIndex("text", { searchField: "body", filterFields: ["author"] })
      .index("author", ["author"]),
  });
  assert.deepEqual(differences(schema), []);
  assert.deepEqual(differences(schema, { indexes: "names" }), [
    "`messages` must have an index on `author`, in this order, called `by_author`",
    "`messages` must have a search index on `body` with the filter fields `author`, called `search_body`",
    "`messages` must have a vector index on `vector` of 8 dimensions, called `by_vector`",
  ]);
});

test("missing tables, fields and indexes are named", () => {
  const schema = defineSchema({
    messages: defineTable({ author: v.string(), body: v.optional(v.string()), vector: v.array(v.number()) }),
  });
  assert.deepEqual(differences(schema), [
    "a document of `messages`: the field `body` must be string, not optional string",
    "`messages` must have an index on `author`, in this order",
    "`messages` must have a search index on `body` with the filter fields `author`",
    "`messages` must have a vector index on `vector` of 8 dimensions",
    "there must be a table `users`",
  ]);
  assert.deepEqual(differences(schema, { tables: ["messages"], indexes: "ignored", documents: "ignored" }), []);
});

test("a table that the answer does not have is the grader's mistake", () => {
  assert.throws(() => schemaDifferences([], answer, { tables: ["usres"] }), /answer has no table `usres`/);
});

test("documents are compared by what the table accepts", () => {
  const name = { name: v.string() };
  const [either, optional] = [
    v.union(v.object(name), v.object({ ...name, age: v.number() })),
    { ...name, age: v.optional(v.number()) },
  ];
  const users = (fields: typeof either | typeof optional): TableSchema[] =>
    tables(defineSchema({ users: "kind" in fields ? defineTable(fields) : defineTable(fields) }));
  assert.deepEqual(schemaDifferences(users(either), users(optional)), []);
  assert.equal(schemaDifferences(users(either), users(name as typeof optional)).length, 1);
});
