/** What a grader opened is closed once, after its last test, without the grader having to say so. */

type Closer = () => unknown;

const open = new Set<Closer>();

/** Runs `close` after the last test of the grader. Returns the function that closes it earlier. */
export function closeAfterRun(close: Closer): () => Promise<void> {
  open.add(close);
  return async () => {
    if (open.delete(close)) await close();
  };
}

/** Closes all that is still open; every closer runs even if another one throws. */
export async function closeAll(): Promise<void> {
  const closers = [...open];
  open.clear();
  await Promise.allSettled(closers.map(async (close) => close()));
}
