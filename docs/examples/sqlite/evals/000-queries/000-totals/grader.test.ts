import { runProgram } from "convex-evals/grader";
import { expect, test } from "vitest";

// A model's statement runs in a program of its own, away from the grader.
const PROGRAM = `
  import { readFileSync } from "node:fs";
  import { DatabaseSync } from "node:sqlite";
  const database = new DatabaseSync(":memory:");
  database.exec(process.env.ROWS);
  console.log(JSON.stringify(database.prepare(readFileSync("report.sql", "utf8")).all()));
`;
const TABLES = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, cents INTEGER NOT NULL);
`;

async function report(rows: string): Promise<unknown> {
  const command = [process.execPath, "--input-type=module", "-e", PROGRAM] as const;
  const { code, stdout, stderr } = await runProgram(command, { env: { ROWS: TABLES + rows } });
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

test("sums are listed from the largest, equal ones by name", async () => {
  const rows = `
    INSERT INTO customers VALUES (1, 'Lin'), (2, 'Ada'), (3, 'Mo');
    INSERT INTO orders VALUES (1, 1, 300), (2, 2, 100), (3, 2, 200), (4, 3, 900);
  `;
  expect(await report(rows)).toEqual([
    { name: "Mo", cents: 900 },
    { name: "Ada", cents: 300 },
    { name: "Lin", cents: 300 },
  ]);
});

test("a customer without orders is listed with 0", async () => {
  expect(await report("INSERT INTO customers VALUES (1, 'Ada');")).toEqual([{ name: "Ada", cents: 0 }]);
});
