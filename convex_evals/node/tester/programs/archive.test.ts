import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import { pack, unpack } from "./archive.ts";

const NONE: ReadonlySet<string> = new Set();

function folder(t: TestContext): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), "archive-")));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function write(base: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(base, name)), { recursive: true });
    writeFileSync(path.join(base, name), text);
  }
}

test("tar lays out what is packed: long names, links, empty folders, no hidden ones", (t) => {
  const [from, to] = [folder(t), folder(t)];
  const long = `project/${"deep/".repeat(40)}${"n".repeat(120)}.txt`;
  write(from, {
    [long]: "long",
    "project/a.ts": "a",
    "project/ü.txt": "ü",
    "tester/own/secret": "no",
    "tester/b": "b",
  });
  mkdirSync(path.join(from, "project/empty"));
  symlinkSync(`/${"far/".repeat(40)}`, path.join(from, "project/link"));
  const archive = pack(
    from,
    [path.join(from, "project"), path.join(from, "tester")],
    new Set([path.join(from, "tester/own")]),
  );
  mkdirSync(path.join(to, "project"));
  mkdirSync(path.join(to, "tester"));
  execFileSync("tar", ["-xmof", "-", "-C", to], { input: archive });
  assert.equal(readFileSync(path.join(to, long), "utf8"), "long");
  assert.equal(readFileSync(path.join(to, "project/ü.txt"), "utf8"), "ü");
  assert.ok(
    lstatSync(path.join(to, "project/link")).isSymbolicLink() &&
      lstatSync(path.join(to, "project/empty")).isDirectory(),
  );
  assert.ok(!existsSync(path.join(to, "tester/own")) && existsSync(path.join(to, "tester/b")));
});

test("what comes back is written as plain files below the roots, and through no link", (t) => {
  const [from, to, outside] = [folder(t), folder(t), folder(t)];
  write(from, {
    "project/new/file.txt": "new",
    "project/same.txt": "same",
    "project/link/x": "x",
    "project/was_link": "y",
    "other/z": "z",
  });
  symlinkSync("/etc/passwd", path.join(from, "project/report.json"));
  write(to, { "project/same.txt": "same", "project/report.json": "{}" });
  write(outside, { kept: "kept" });
  symlinkSync(outside, path.join(to, "project/link"));
  symlinkSync(path.join(outside, "kept"), path.join(to, "project/was_link"));
  const archive = execFileSync("tar", ["-cf", "-", "-C", from, "project", "other"]);
  unpack(archive, to, [path.join(to, "project")], NONE);
  assert.equal(readFileSync(path.join(to, "project/new/file.txt"), "utf8"), "new");
  assert.equal(readFileSync(path.join(to, "project/report.json"), "utf8"), "{}", "a link that comes back is left out");
  assert.equal(readFileSync(path.join(outside, "kept"), "utf8"), "kept");
  assert.ok(!existsSync(path.join(outside, "x")) && !existsSync(path.join(to, "other")));
});

test("names that lead out are left out", (t) => {
  const [from, to] = [folder(t), folder(t)];
  write(from, { "project/a": "a", escaped: "e" });
  mkdirSync(path.join(to, "project"));
  for (const name of ["project/../escaped", "/escaped", "project/./../../escaped"]) {
    const archive = execFileSync("tar", [
      "-cPf",
      "-",
      "-C",
      path.join(from, "project"),
      "--transform",
      `s|^a$|${name}|`,
      "a",
    ]);
    unpack(archive, to, [path.join(to, "project")], NONE);
  }
  assert.deepEqual([readdirSync(to), readdirSync(path.join(to, "project"))], [["project"], []]);
});

test("what is cut off or no archive at all is left out", (t) => {
  const to = folder(t);
  mkdirSync(path.join(to, "project"));
  for (const bytes of [Buffer.from("junk"), Buffer.alloc(5000, 65), Buffer.alloc(0)]) {
    unpack(bytes, to, [path.join(to, "project")], NONE);
  }
  assert.deepEqual(readdirSync(path.join(to, "project")), []);
});
