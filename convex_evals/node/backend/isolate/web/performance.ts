/**
 * `performance`: a clock that only runs forward, with marks on it. In queries it stands still.
 *
 * https://w3c.github.io/user-timing/
 * get-convex/convex-backend npm-packages/udf-runtime/src/27_performance.ts
 */

import { DOMException } from "./dom_exception.ts";
import { EventTarget } from "./events.ts";
import { defineInterface, requireArguments } from "./interface.ts";
import { sources } from "./sources.ts";

// Only this module makes entries and the one clock.
const OWN = Symbol("own");

type Mark = string | number;

interface MeasureOptions {
  readonly start?: Mark;
  readonly end?: Mark;
  readonly duration?: Mark;
  readonly detail?: unknown;
}

interface EntryParts {
  readonly name: string;
  readonly entryType: string;
  readonly startTime: number;
  readonly duration: number;
}

export class PerformanceEntry {
  readonly #parts: EntryParts;

  constructor(secret?: unknown, parts?: EntryParts) {
    if (secret !== OWN) throw new TypeError("Illegal constructor");
    this.#parts = parts!;
  }

  get name(): string {
    return this.#parts.name;
  }

  get entryType(): string {
    return this.#parts.entryType;
  }

  get startTime(): number {
    return this.#parts.startTime;
  }

  get duration(): number {
    return this.#parts.duration;
  }

  toJSON(): object {
    return { ...this.#parts };
  }
}

export class PerformanceMark extends PerformanceEntry {
  readonly #detail: unknown;

  constructor(name: unknown, options?: { readonly startTime?: number; readonly detail?: unknown } | null) {
    const startTime = Number(options?.startTime ?? sources().now());
    if (startTime < 0) throw new TypeError(`startTime cannot be negative, received ${startTime}`);
    super(OWN, { name: String(name), entryType: "mark", startTime, duration: 0 });
    this.#detail = structuredClone(options?.detail ?? null);
  }

  get detail(): unknown {
    return this.#detail;
  }

  override toJSON(): object {
    return { ...super.toJSON(), detail: this.#detail };
  }
}

export class PerformanceMeasure extends PerformanceEntry {
  readonly #detail: unknown;

  constructor(secret?: unknown, parts?: EntryParts, detail?: unknown) {
    super(secret, parts);
    this.#detail = structuredClone(detail);
  }

  get detail(): unknown {
    return this.#detail;
  }

  override toJSON(): object {
    return { ...super.toJSON(), detail: this.#detail };
  }
}

export class Performance extends EventTarget {
  #entries: readonly PerformanceEntry[] = [];

  constructor(secret?: unknown) {
    if (secret !== OWN) throw new TypeError("Illegal constructor");
    super();
  }

  now(): number {
    return sources().now();
  }

  get timeOrigin(): number {
    return sources().timeOrigin;
  }

  toJSON(): object {
    return { timeOrigin: this.timeOrigin };
  }

  mark(name: unknown, options?: { readonly startTime?: number; readonly detail?: unknown }): PerformanceMark {
    requireArguments(arguments.length, 1, "'mark' on 'Performance'");
    const entry = new PerformanceMark(name, options);
    this.#entries = [...this.#entries, entry];
    return entry;
  }

  measure(name: unknown, startOrOptions?: Mark | MeasureOptions, endMark?: Mark): PerformanceMeasure {
    requireArguments(arguments.length, 1, "'measure' on 'Performance'");
    const options = typeof startOrOptions === "object" ? startOrOptions : null;
    const { start, end, duration, detail = null } = options ?? { start: startOrOptions as Mark };
    if (options && endMark !== undefined) throw new TypeError('Options cannot be passed with "endMark"');
    if (start !== undefined && end !== undefined && duration !== undefined) {
      throw new TypeError('Cannot specify "start", "end", and "duration" together in options');
    }
    const [from, until, lasting] = [start, endMark ?? end, duration].map((mark) => this.#timeOf(mark));
    const endTime = until ?? (from !== null && lasting !== null ? from! + lasting! : sources().now());
    const startTime = from ?? (lasting !== null ? endTime - lasting! : 0);
    const parts = { name: String(name), entryType: "measure", startTime, duration: endTime - startTime };
    const entry = new PerformanceMeasure(OWN, parts, detail);
    this.#entries = [...this.#entries, entry];
    return entry;
  }

  clearMarks(name?: string): void {
    this.#clear("mark", name);
  }

  clearMeasures(name?: string): void {
    this.#clear("measure", name);
  }

  getEntries(): PerformanceEntry[] {
    return [...this.#entries];
  }

  getEntriesByName(name: string, type?: string): PerformanceEntry[] {
    requireArguments(arguments.length, 1, "'getEntriesByName' on 'Performance'");
    return this.#entries.filter((entry) => entry.name === name && (type === undefined || entry.entryType === type));
  }

  getEntriesByType(type: string): PerformanceEntry[] {
    requireArguments(arguments.length, 1, "'getEntriesByType' on 'Performance'");
    return this.#entries.filter((entry) => entry.entryType === type);
  }

  #clear(type: string, name: string | undefined): void {
    this.#entries = this.#entries.filter((entry) => {
      return entry.entryType !== type || (name !== undefined && entry.name !== name);
    });
  }

  #timeOf(mark: Mark | undefined): number | null {
    if (mark === undefined) return null;
    if (typeof mark === "string") {
      const entry = this.#entries.findLast(({ name, entryType }) => name === mark && entryType === "mark");
      if (!entry) throw new DOMException(`Cannot find mark: "${mark}"`, "SyntaxError");
      return entry.startTime;
    }
    if (mark < 0) throw new TypeError(`Mark cannot be negative: received ${mark}`);
    return mark;
  }
}

defineInterface(PerformanceEntry, "PerformanceEntry");
defineInterface(PerformanceMark, "PerformanceMark");
defineInterface(PerformanceMeasure, "PerformanceMeasure");
defineInterface(Performance, "Performance");

export const performance = new Performance(OWN);
