/** Stands in for the official `bundler/log.js`: same functions, but nothing reaches the terminal. */
import { format, stripVTControlCharacters } from "node:util";
import { record } from "./diagnostics.ts";

const plain = (parts: unknown[]): string => stripVTControlCharacters(format(...parts)).trim();

export function logError(message: string): void {
  record("errors", plain([message]));
}

export function logFailure(message: string): void {
  record("errors", plain([message]));
}

export function logWarning(...parts: unknown[]): void {
  record("warnings", plain(parts));
}

// Printed only around errors (the reason under "Parsing convex.json failed") and as hints: kept with the warnings.
export function logMessage(...parts: unknown[]): void {
  record("warnings", plain(parts));
}

export function logOutput(): void {}

export function logVerbose(): void {}

export function showSpinner(): void {}

export function changeSpinner(): void {}

export function failExistingSpinner(): void {}

export function logFinishedStep(): void {}

export function stopSpinner(): void {}

export function startLogProgress(): never {
  throw new Error("the official code asked for a progress bar, which bundling never does");
}

export async function showSpinnerIfSlow(
  _message: string,
  _delayMs: number,
  work: () => Promise<unknown>,
): Promise<void> {
  await work();
}
