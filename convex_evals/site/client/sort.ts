/** Tables that are sorted by a click on a head. */
import { all, element } from "./dom.ts";
import { prefixOf, read, write } from "./state.ts";

type Direction = "ascending" | "descending";
type Value = number | string | null;

const words = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

const enabled = new WeakSet<HTMLTableElement>();

export function enableSorting(): void {
  for (const table of all<HTMLTableElement>("table[data-sortable]")) if (!enabled.has(table)) enable(table);
}

function enable(table: HTMLTableElement): void {
  enabled.add(table);
  const heads = all<HTMLTableCellElement>("thead th[data-sort]", table);
  const key = `${prefixOf(table.id)}sort`;
  const first = heads.find((head) => head.ariaSort);
  const untouched = first ? wordOf(first, directionOf(first)) : null;
  for (const head of heads) {
    addButton(head).addEventListener("click", () => {
      const direction = next(head);
      sort(table, head, direction);
      const word = wordOf(head, direction);
      write(key, word === untouched ? null : word);
    });
  }
  const wanted = read(key);
  for (const head of heads) {
    for (const direction of ["ascending", "descending"] as const) {
      if (wanted !== null && wordOf(head, direction) === wanted) sort(table, head, direction);
    }
  }
}

/** A head that is a link stays one, and gets its button below. */
function addButton(head: HTMLTableCellElement): HTMLButtonElement {
  const button = element("button", { type: "button", class: "sort" });
  if (head.querySelector("a")) button.ariaLabel = `Sort by ${head.textContent.trim()}`;
  else button.append(...head.childNodes);
  head.append(button);
  return button;
}

function directionOf(head: Element): Direction {
  return head.ariaSort === "ascending" ? "ascending" : "descending";
}

function next(head: HTMLElement): Direction {
  if (head.ariaSort) return directionOf(head) === "ascending" ? "descending" : "ascending";
  return head.dataset.sort === "number" ? "descending" : "ascending";
}

function wordOf(head: HTMLTableCellElement, direction: Direction): string {
  return `${head.dataset.name ?? columnOf(head)},${direction === "ascending" ? "asc" : "desc"}`;
}

function columnOf(head: HTMLTableCellElement): number {
  let column = 0;
  for (let at = head.previousElementSibling; at; at = at.previousElementSibling) {
    column += (at as HTMLTableCellElement).colSpan;
  }
  return column;
}

function sort(table: HTMLTableElement, head: HTMLTableCellElement, direction: Direction): void {
  const column = columnOf(head);
  const isNumber = head.dataset.sort === "number";
  const sign = direction === "ascending" ? 1 : -1;
  for (const body of table.tBodies) {
    const rows = [...body.rows].map((row) => ({ row, value: valueOf(row, column, isNumber) }));
    rows.sort((a, b) => {
      if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null);
      return sign * compare(a.value, b.value);
    });
    // Moving a row takes the focus from what is in it.
    const focused = body.contains(document.activeElement) ? document.activeElement : null;
    body.append(...rows.map(({ row }) => row));
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }
  for (const other of all("thead th[aria-sort]", table)) other.removeAttribute("aria-sort");
  head.ariaSort = direction;
}

function compare(a: number | string, b: number | string): number {
  return typeof a === "number" && typeof b === "number" ? a - b : words.compare(String(a), String(b));
}

function valueOf(row: HTMLTableRowElement, column: number, isNumber: boolean): Value {
  const cell = cellAt(row, column);
  const text = (cell?.dataset.value ?? cell?.textContent ?? "").trim();
  if (!isNumber) return text === "" || /^[-–—]$/.test(text) ? null : text;
  const plain = text.replace(/−/g, "-").replace(/[^\d.eE+-]/g, "");
  const value = plain === "" ? NaN : Number.parseFloat(plain);
  return Number.isNaN(value) ? null : value;
}

function cellAt(row: HTMLTableRowElement, column: number): HTMLTableCellElement | undefined {
  let at = 0;
  for (const cell of row.cells) {
    if (column < at + cell.colSpan) return cell;
    at += cell.colSpan;
  }
  return undefined;
}
