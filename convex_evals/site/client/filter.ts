/** Forms that narrow a table down to the rows one looks for. */
import { all } from "./dom.ts";
import { prefixOf, read, write } from "./state.ts";

type Field = HTMLInputElement | HTMLSelectElement;

const texts = new WeakMap<Element, string>();
const enabled = new WeakMap<HTMLFormElement, () => void>();

/** Filters that are at work already are applied again: their table may be another since. */
export function enableFilters(): void {
  for (const form of all<HTMLFormElement>("form.filters[data-for]")) {
    const apply = enabled.get(form);
    if (apply) apply();
    else if (tableOf(form)) enable(form);
  }
}

function tableOf(form: HTMLFormElement): HTMLTableElement | null {
  const found = document.getElementById(form.dataset.for ?? "");
  return found instanceof HTMLTableElement ? found : null;
}

function enable(form: HTMLFormElement): void {
  const fields = [...form.elements].filter(isField);
  const prefix = prefixOf(form.dataset.for ?? "");
  const defaults = new Map(fields.map((field) => [field, field.value]));
  const output = form.querySelector("output");
  output?.setAttribute("aria-live", "polite");

  const apply = (): void => {
    const table = tableOf(form);
    const counted = table ? show(table, fields) : "";
    // Written only where it differs, as it is read out.
    if (output && output.textContent !== counted) output.textContent = counted;
  };
  const changed = (): void => {
    apply();
    for (const field of fields) write(prefix + field.name, field.value === defaults.get(field) ? null : field.value);
  };

  for (const field of fields) {
    const wanted = read(prefix + field.name);
    if (wanted !== null) choose(field, wanted);
  }
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  // The fields are reset after the event.
  form.addEventListener("reset", () => void setTimeout(changed));
  form.hidden = false;
  enabled.set(form, apply);
  apply();
}

function isField(at: Element): at is Field {
  return (
    (at instanceof HTMLSelectElement || (at instanceof HTMLInputElement && at.type === "search")) && at.name !== ""
  );
}

/** A value that a select does not have, of an old link say, is no choice. */
function choose(field: Field, wanted: string): void {
  if (field instanceof HTMLInputElement) field.value = wanted;
  else if ([...field.options].some((option) => option.value === wanted)) field.value = wanted;
}

function show(table: HTMLTableElement, fields: Field[]): string {
  let shown = 0;
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  for (const row of rows) {
    row.hidden = !fields.every((field) => matches(row, field));
    if (!row.hidden) shown += 1;
  }
  return `${shown} of ${rows.length}`;
}

function matches(row: HTMLTableRowElement, field: Field): boolean {
  if (field instanceof HTMLSelectElement) {
    return field.value === "" || wordsOf(row.getAttribute(`data-${field.name}`) ?? "").includes(field.value);
  }
  const text = texts.get(row) ?? row.textContent.toLowerCase();
  texts.set(row, text);
  return wordsOf(field.value.toLowerCase()).every((word) => text.includes(word));
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter(Boolean);
}
