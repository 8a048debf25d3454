/**
 * The time of transactions, and of the documents that they create: the first is of the transaction's time, each further one of
 * the next number after that.
 * get-convex/convex-backend crates/common/src/document.rs CreationTime, crates/database/src/transaction.rs
 */

const number = new Float64Array(1);
const bits = new BigUint64Array(number.buffer);

export class TransactionClock {
  #startedMs = 0;
  /** The creation time of the next document; unlike in Convex, no earlier transaction has a later one. */
  #next = 0;

  /** What `Date.now()` says in the running transaction: Unix milliseconds. */
  get startedMs(): number {
    return this.#startedMs;
  }

  /** Starts the time of a transaction that comes after the commit at `lastCommitTs`, in Unix nanoseconds. */
  begin(lastCommitTs: bigint): void {
    this.#next = Math.max(now(), Number(lastCommitTs) / 1e6, this.#next);
    this.#startedMs = Math.floor(this.#next);
  }

  /** The creation time of a new document. */
  created(): number {
    const created = this.#next;
    this.#next = after(created);
    return created;
  }

  /** Notes that there is a document of that time. */
  passed(creationTime: number): void {
    if (creationTime >= this.#next) this.#next = after(creationTime);
  }

  /** A time to commit at: Unix nanoseconds, not before any document was created. */
  commitTs(): bigint {
    return BigInt(Math.ceil(Math.max(now(), this.#next) * 1000)) * 1000n;
  }
}

/** Unix milliseconds with a fraction. */
function now(): number {
  // The clock of `performance` does not follow when the system's is set: only its fraction is used.
  return Date.now() + ((performance.timeOrigin + performance.now()) % 1);
}

function after(positive: number): number {
  number[0] = positive;
  bits[0]! += 1n;
  return number[0];
}
