/** Graders may print without end; what is kept of it is bounded. */

const MAX_OUTPUT = 1_000_000;

/**
 * Sends everything that this process writes to stdout or stderr (the workers' output included) to stderr, and cuts it
 * off after one megabyte.
 */
export function capOutput(): void {
  const write = process.stderr.write.bind(process.stderr);
  let left = MAX_OUTPUT;
  const capped = (chunk: Uint8Array | string, ...rest: unknown[]): boolean => {
    const done = rest.find((argument) => typeof argument === "function") as (() => void) | undefined;
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk);
    if (left > 0) {
      write(
        bytes.length > left ? Buffer.concat([bytes.subarray(0, left), Buffer.from("\n[output cut off]\n")]) : bytes,
      );
    }
    left -= bytes.length;
    done?.();
    return true;
  };
  process.stdout.write = capped;
  process.stderr.write = capped;
}
