/** Files that another process reads as soon as they are there. */
import { renameSync, writeFileSync } from "node:fs";

/** Writes a file so that it is there completely or not at all. */
export function writeFileAtomically(file: string, text: string): void {
  const draft = `${file}.${process.pid}.tmp`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
