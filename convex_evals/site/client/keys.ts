/** Keys that move through a page, and the list of them. */
import { toggleRow } from "./choose.ts";
import { all, element, isVisible, recall, remember, tools } from "./dom.ts";

const KEY = "convex-evals.keys";
const ROW_LINKS = "table.data tbody tr:not([hidden]) th[scope=row] a";
const OTHER_ROW_LINKS = "[data-row] a";
const TYPED_INTO = "input, select, textarea, [contenteditable]";

let off = recall(KEY) === "off";

export function enableKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || event.isComposing) return;
    if (document.querySelector("dialog[open]")) return;
    const typing = event.target instanceof Element ? event.target.closest(TYPED_INTO) : null;
    if (typing) {
      if (event.key === "Escape" && typing.matches("input[type=search]")) leave(typing as HTMLInputElement, event);
      else if (event.key === "Escape" && typing.matches("#label *")) (typing as HTMLElement).blur();
      else if (typing.matches("input[type=checkbox]") && !off && act(event.key)) event.preventDefault();
    } else if (!off && act(event.key)) event.preventDefault();
  });
  const button = element("button", { type: "button", class: "tool", "aria-label": "Keys of this page" }, "?");
  button.addEventListener("click", showKeys);
  tools().append(button);
}

/** Tells keys to those who cannot see the hints beside links. */
export function describeKeys(): void {
  for (const link of all("[data-key]")) link.setAttribute("aria-keyshortcuts", keyOf(link));
  for (const trial of trials()) trial.tabIndex = -1;
}

function keyOf(link: Element): string {
  return link.getAttribute("data-key") ?? "";
}

function leave(field: HTMLInputElement, event: Event): void {
  event.preventDefault();
  if (field.value === "") field.blur();
  else {
    field.value = "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

/** Whether the key means something here. */
function act(key: string): boolean {
  if (key === "?") return (showKeys(), true);
  if (key === "/") return focus(searchField());
  const target = all<HTMLElement>("[data-key]").find((one) => keyOf(one) === key);
  if (target) return target.matches(TYPED_INTO) ? focus(target) : (target.click(), true);
  if (key === "x") return toggleRow();
  if (key === "j" || key === "k") return focus(neighbour(key === "j" ? 1 : -1));
  if (/^[1-9]$/.test(key) && trials().length > 1) {
    const trial = document.getElementById(`trial-${key}`);
    trial?.scrollIntoView();
    return focus(trial, { preventScroll: true });
  }
  return false;
}

function focus(at: HTMLElement | null | undefined, options?: FocusOptions): boolean {
  at?.focus(options);
  return Boolean(at);
}

function searchField(): HTMLElement | undefined {
  return all<HTMLElement>("input[type=search]").find(isVisible);
}

function trials(): HTMLElement[] {
  return all<HTMLElement>("article.trial[id]");
}

function rowLinks(): HTMLElement[] {
  // One for each row, even if its head has several.
  const perRow = new Map<Element | null, HTMLElement>();
  for (const link of all<HTMLElement>(ROW_LINKS).filter(isVisible)) {
    const row = link.closest("tr");
    if (!perRow.has(row)) perRow.set(row, link);
  }
  return perRow.size > 0 ? [...perRow.values()] : all<HTMLElement>(OTHER_ROW_LINKS).filter(isVisible);
}

function neighbour(step: 1 | -1): HTMLElement | undefined {
  const links = rowLinks();
  const row = document.activeElement?.closest("tr, [data-row]");
  const at = links.findIndex((link) => link === document.activeElement || (row && row.contains(link)));
  if (at < 0) return step > 0 ? links[0] : links.at(-1);
  return links[Math.min(Math.max(at + step, 0), links.length - 1)];
}

function showKeys(): void {
  const close = element("button", { type: "button", class: "button" }, "Close");
  const toggle = element("input", { type: "checkbox" });
  toggle.checked = !off;
  toggle.addEventListener("change", () => {
    off = !toggle.checked;
    remember(KEY, off ? "off" : null);
  });
  const dialog = element(
    "dialog",
    { class: "keys", "aria-labelledby": "keys-title" },
    element("h2", { id: "keys-title" }, "Keys of this page"),
    element("dl", {}, ...usable().flatMap(([keys, what]) => [names(keys), element("dd", {}, what)])),
    element("label", {}, toggle, "Single keys are on"),
    close,
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
}

function names(keys: string[]): HTMLElement {
  return element(
    "dt",
    {},
    ...keys.flatMap((key, at) => (at ? [" ", element("kbd", {}, key)] : [element("kbd", {}, key)])),
  );
}

function usable(): [string[], string][] {
  const list: [string[], string][] = [];
  if (rowLinks().length > 0) list.push([["j", "k"], "to the next or previous row"], [["Enter"], "open the row"]);
  if (searchField()) list.push([["/"], "search"], [["Esc"], "clear the search, then leave it"]);
  if (document.querySelector("form[data-choose]")) list.push([["x"], "select the row, or do not"]);
  const seen = new Set<string>();
  for (const target of all<HTMLElement>("[data-key]")) {
    if (!seen.has(keyOf(target))) list.push([[keyOf(target)], nameOf(target)]);
    seen.add(keyOf(target));
  }
  const many = Math.min(trials().length, 9);
  if (many > 1) list.push([[`1–${many}`], "to a trial"]);
  return [...list, [["?"], "this list"]];
}

function nameOf(target: HTMLElement): string {
  if (target instanceof HTMLTextAreaElement) return target.labels[0]?.textContent ?? "";
  return target.textContent.trim() || (target.ariaLabel ?? "");
}
