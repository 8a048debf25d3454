/** The numbers by which document ids name their tables, for the life of the deployment. */

// User tables begin here in Convex, too. Numbers of two bytes make ids of 32
// characters.
const FIRST_USER_TABLE = 10_001;
const FIRST_SYSTEM_TABLE = 513;

/** Gives every table a number when it is first asked for; all components share them. */
export class TableNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #names = new Map<number, string>();
  readonly #onNew: (table: string, number: number) => void;
  #nextUser = FIRST_USER_TABLE;
  #nextSystem = FIRST_SYSTEM_TABLE;

  /** `known`: numbers that tables have already. */
  constructor(
    known: Iterable<readonly [string, number]> = [],
    onNew: (table: string, number: number) => void = () => {},
  ) {
    this.#onNew = onNew;
    for (const [table, number] of known) {
      this.#set(table, number);
      if (table.startsWith("_")) this.#nextSystem = Math.max(this.#nextSystem, number + 1);
      else this.#nextUser = Math.max(this.#nextUser, number + 1);
    }
  }

  numberOf(table: string): number {
    const known = this.#numbers.get(table);
    if (known !== undefined) return known;
    const number = table.startsWith("_") ? this.#nextSystem++ : this.#nextUser++;
    this.#onNew(table, number);
    this.#set(table, number);
    return number;
  }

  /** Null for a number that no table has. */
  nameOf(number: number): string | null {
    return this.#names.get(number) ?? null;
  }

  #set(table: string, number: number): void {
    this.#numbers.set(table, number);
    this.#names.set(number, table);
  }
}
