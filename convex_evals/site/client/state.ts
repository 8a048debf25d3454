/** What is sorted and filtered, kept in the page's query: a link, a reload and a live update show the same. */
import { all } from "./dom.ts";

/** What comes before the names of a table's parameters, by its id: nothing where it is the only one with filters. */
export function prefixOf(table: string): string {
  const filtered = all<HTMLFormElement>("form.filters[data-for]");
  return filtered.length === 1 && filtered[0]?.dataset.for === table ? "" : `${table}.`;
}

export function read(name: string): string | null {
  return new URLSearchParams(location.search).get(name);
}

/** `null` removes a parameter. Those of the server stay as they are. */
export function write(name: string, value: string | null): void {
  const query = new URLSearchParams(location.search);
  if (value === null) query.delete(name);
  else query.set(name, value);
  const text = query.toString();
  try {
    history.replaceState(history.state, "", `${location.pathname}${text && `?${text}`}${location.hash}`);
  } catch {
    // Browsers refuse it for files and for very many changes in a short time: the page works on without it.
  }
}
