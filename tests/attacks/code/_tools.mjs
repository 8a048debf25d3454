import { execFileSync, spawn, spawnSync } from "node:child_process";
import crypto from "node:crypto";
import dgram from "node:dgram";
import dns from "node:dns";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";

const lines = [];
const note = (text) => void lines.push(String(text).slice(0, 400));
/** What came of it, or why nothing did. */
function attempt(what, work) {
  try {
    note(`${what}: ${work()}`);
  } catch (error) {
    note(`${what}: ${error.code ?? error.message}`);
  }
}
const read = (file) => fs.readFileSync(file, "latin1").slice(0, 300);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** All processes in sight: where they are not listed, those that are there all the same. */
function pids() {
  try {
    return fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
  } catch {
    return Array.from({ length: 65536 }, (_, pid) => pid).filter((pid) => pid > 0 && fs.existsSync(`/proc/${pid}`));
  }
}
/** Whether a process is the shell that our own launch begins with: a part of the project, which holds nothing but what we have. */
function isOwnShell(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "latin1").includes("base=$1 tar=$2 results=$3");
  } catch {
    return false;
  }
}
function sh(command, options = {}) {
  const done = spawnSync("/bin/sh", ["-c", command], { encoding: "utf8", timeout: 4000, ...options });
  return `${done.status ?? done.signal ?? done.error?.code} ${(done.stdout ?? "").slice(0, 150)} ${(done.stderr ?? "").slice(0, 150)}`;
}
const perl = (program, ...args) => execFileSync("perl", ["-e", program, ...args.map(String)], { encoding: "utf8", timeout: 6000 });
/**
 * Connect, say who we are, and hear what is answered. Only who greets as expected counts: a port of the machine may have the number
 * of one of the trial's own.
 */
function talk(where, text, greeting = "") {
  return new Promise((resolve) => {
    let heard = "";
    const socket = net.connect(where, () => socket.write(text));
    const done = (what) => {
      socket.destroy();
      resolve(`${JSON.stringify(where)}: ${what}`);
    };
    socket.on("data", (data) => done(`${(heard += data).startsWith(greeting) ? "PWNED, it says" : "somebody else says"} ${heard.slice(0, 100)}`));
    socket.on("error", (error) => done(error.code));
    socket.setTimeout(800, () => done(socket.connecting ? "no answer" : greeting ? "no greeting" : "PWNED, connected"));
  });
}
