/** Pages of a run in progress: what has changed is exchanged, and the reader's place is kept. */
import { all, element } from "./dom.ts";

const SLOWEST_MS = 30_000;

/** What an element of `main` was before scripts touched it: what is the same on the server stays as it is here. */
const sources = new WeakMap<Element, string>();

/** Call it before anything changes the page. */
export function rememberSources(): void {
  if (document.body.dataset.live) for (const child of mainOf(document)?.children ?? []) note(child);
}

function note(child: Element): void {
  sources.set(child, child.outerHTML);
}

function mainOf(from: Document): Element | null {
  return from.getElementById("main");
}

/** Follow the page; `enhance` is for what is new. */
export function follow(enhance: () => void): void {
  const pace = (): number => Number(document.body.dataset.live);
  if (!(pace() > 0)) return;
  let etag: string | null = null;
  let delay = pace();
  let timer = 0;
  let isLooking = false;

  const look = async (): Promise<void> => {
    const found = await fetchAgain(etag);
    if (found && !isEdited()) {
      exchange(new DOMParser().parseFromString(found.text, "text/html"), enhance);
      etag = found.etag;
    }
    tell(null);
    delay = pace();
  };
  const again = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      if (!document.hidden) await look();
    } catch (error) {
      tell(error instanceof Refusal ? error.message : "cli view has stopped; this page shows what it said last.");
      delay = Math.min(Math.max(delay, pace()) * 2, SLOWEST_MS);
    }
    isLooking = false;
    // Not after the page has said that there is nothing to come.
    if (delay > 0) timer = setTimeout(() => void again(), delay);
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden || !(delay > 0)) return;
    clearTimeout(timer);
    void again();
  });
  timer = setTimeout(() => void again(), delay);
}

class Refusal extends Error {}

/** The page as it is now; null where it has not changed. */
async function fetchAgain(etag: string | null): Promise<{ text: string; etag: string | null } | null> {
  const headers: Record<string, string> = etag === null ? {} : { "If-None-Match": etag };
  const answer = await fetch(location.href, { cache: "no-store", headers });
  if (answer.status === 304) return null;
  if (!answer.ok) throw new Refusal(`This page is not updated: cli view answers with ${answer.status}.`);
  return { text: await answer.text(), etag: answer.headers.get("etag") };
}

/** Show a problem above the page; null takes it away. */
export function tell(problem: string | null): void {
  const shown = document.querySelector(".banner.live");
  if (problem === null) shown?.remove();
  else if (shown) shown.textContent = problem;
  else mainOf(document)?.before(element("div", { class: "banner warn live", role: "status" }, problem));
}

/** Text that was typed and not sent would be lost. */
function isEdited(): boolean {
  return all<HTMLTextAreaElement>("textarea").some((field) => field.value !== field.defaultValue);
}

function exchange(fresh: Document, enhance: () => void): void {
  const [main, from] = [mainOf(document), mainOf(fresh)];
  if (!main || !from) return;
  const pace = fresh.body.dataset.live;
  if (pace === undefined) delete document.body.dataset.live;
  else document.body.dataset.live = pace;
  document.title = fresh.title;
  const restore = place();
  const added = merge(main, from);
  if (added.length === 0) return;
  enhance();
  document.dispatchEvent(new Event("pages:exchanged"));
  restore();
}

/** Make the children of `main` those of `from`, but leave those alone that have not changed; the new ones. */
function merge(main: Element, from: Element): Element[] {
  const added: Element[] = [];
  let at = main.firstElementChild;
  for (const next of [...from.children]) {
    const source = next.outerHTML;
    let same = at;
    while (same && sources.get(same) !== source) same = same.nextElementSibling;
    if (same) {
      while (at && at !== same) at = dropped(at);
      at = same.nextElementSibling;
    } else {
      note(next);
      main.insertBefore(document.adoptNode(next), at);
      added.push(next);
    }
  }
  while (at) at = dropped(at);
  return added;
}

function dropped(at: Element): Element | null {
  const next = at.nextElementSibling;
  at.remove();
  return next;
}

/** Remembers where the reader is, and returns what goes back there. */
function place(): () => void {
  const refocus = describe(document.activeElement);
  const open = all<HTMLDetailsElement>("#main details[id]").map((one) => [one.id, one.open] as const);
  const scrolled = boxes().map(([key, one]) => [key, one.scrollLeft, one.scrollTop] as const);
  const back = hold();
  return () => {
    for (const [id, isOpen] of open) {
      const details = document.getElementById(id);
      if (details instanceof HTMLDetailsElement) details.open = isOpen;
    }
    const found = new Map(boxes());
    for (const [key, left, top] of scrolled) {
      if (left || top) found.get(key)?.scrollTo({ left, top, behavior: "instant" });
    }
    back(refocus?.() ?? null);
  };
}

/** What is read stays where it is in the window: what has the focus, else what is at the top and has not changed. */
function hold(): (focused: Element | null) => void {
  const { scrollX, scrollY } = window;
  const topOf = (at: Element): number => at.getBoundingClientRect().top;
  const isSeen = (at: Element): boolean => at.getBoundingClientRect().bottom > 0 && topOf(at) < innerHeight;
  const active = document.activeElement;
  const focusedTop = active && active !== document.body && isSeen(active) ? topOf(active) : null;
  const seen = [...(mainOf(document)?.children ?? [])].filter(isSeen).map((one) => [one, topOf(one)] as const);
  // The browser holds on to something as well, and chooses it differently.
  const { style } = document.documentElement;
  style.overflowAnchor = "none";
  return (focused) => {
    scrollTo({ left: scrollX, top: scrollY, behavior: "instant" });
    const [kept, top] =
      focused && focusedTop !== null ? [focused, focusedTop] : (seen.find(([one]) => one.isConnected) ?? []);
    if (kept && top !== undefined) scrollBy({ top: topOf(kept) - top, behavior: "instant" });
    requestAnimationFrame(() => requestAnimationFrame(() => (style.overflowAnchor = "")));
  };
}

function boxes(): [string, Element][] {
  return all("#main .scroll, #main pre").map((one, at) => [name(one, at), one]);
}

function name(box: Element, at: number): string {
  return box.querySelector("table[id]")?.id ?? (box.id || box.ariaLabel) ?? String(at);
}

/** How to focus the same thing again, once it is another element; what then has the focus. */
function describe(at: Element | null): (() => Element | null) | null {
  if (!(at instanceof HTMLElement) || !mainOf(document)?.contains(at)) return null;
  const selectors = [
    at.id && `#${CSS.escape(at.id)}`,
    at.getAttribute("href") && `a[href="${CSS.escape(at.getAttribute("href") ?? "")}"]`,
    at.getAttribute("name") && `[name="${CSS.escape(at.getAttribute("name") ?? "")}"]`,
  ].filter((one): one is string => Boolean(one));
  const region = at.closest("table[id], form[data-for], details[id], section[id]");
  const within = region?.id ? `#${CSS.escape(region.id)} ` : "";
  const path = buttonPath(at);
  const selection =
    at instanceof HTMLInputElement && at.type === "search" ? [at.selectionStart, at.selectionEnd] : null;
  return () => {
    const again = (one: string): HTMLElement | null => document.querySelector<HTMLElement>(`#main ${within}${one}`);
    const found = at.isConnected ? at : (selectors.map(again).find(Boolean) ?? path());
    found?.focus({ preventScroll: true });
    if (selection && found instanceof HTMLInputElement) {
      found.setSelectionRange(selection[0] ?? null, selection[1] ?? null);
    }
    return found;
  };
}

/** Buttons that scripts have added have no name: their place among those of a table, or of the page. */
function buttonPath(at: HTMLElement): () => HTMLElement | null {
  const table = at.closest("table[id]")?.id;
  const inside = table ? `#${CSS.escape(table)} ` : "#main ";
  const kind = at.localName === "button" || at.localName === "summary" ? at.localName : null;
  const index = kind ? all(`${inside}${kind}`).indexOf(at) : -1;
  return () => (kind && index >= 0 ? (all<HTMLElement>(`${inside}${kind}`)[index] ?? null) : null);
}
