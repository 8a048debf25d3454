/**
 * A session's label: what is changed is saved at once, and what is changed on disk is shown, never overwritten.
 *
 * The server answers each change with the label as it is then. A text that is being typed stays in its field meanwhile.
 * If the file has another text by then, the field is *contested*: nothing is saved until its reader has decided.
 */
import { all, element } from "./dom.ts";
import { tell } from "./live.ts";

const SAVE_MS = 1000;
const LOOK_MS = 2000;
/** Requests that outlive their page may not send more. */
const MOST_KEPT = 60_000;
const ANSWER_MS = 15_000;
const PART = { "X-Part": "label" };

let etag: string | null = null;
let queue: Promise<unknown> = Promise.resolve();
let timer = 0;

export function enableLabel(): void {
  if (!card()) return;
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !card()?.contains(form)) return;
    event.preventDefault();
    const submitter = event.submitter instanceof HTMLButtonElement ? event.submitter : null;
    const data = new FormData(form, submitter);
    void enqueue(() => send(data));
  });
  document.addEventListener("input", (event) => {
    if (!isOfLabel(event.target)) return;
    state("…");
    clearTimeout(timer);
    timer = setTimeout(saveTyped, SAVE_MS);
  });
  document.addEventListener("focusout", (event) => {
    if (isOfLabel(event.target)) saveTyped();
  });
  addEventListener("pagehide", () => keep());
  addEventListener("beforeunload", (event) => {
    if (typed().some((field) => field.value.length > MOST_KEPT || isContested(field))) event.preventDefault();
  });
  document.addEventListener("visibilitychange", () => void look());
  setInterval(() => void look(), LOOK_MS);
}

function card(): HTMLElement | null {
  return document.getElementById("label");
}

function fields(within: ParentNode | null = card()): HTMLTextAreaElement[] {
  return within ? all<HTMLTextAreaElement>("textarea", within) : [];
}

function isOfLabel(at: EventTarget | null): at is HTMLTextAreaElement {
  return at instanceof HTMLTextAreaElement && Boolean(card()?.contains(at));
}

/** The fields whose text is not that of the file; blanks at the end aside, which are not kept. */
function typed(): HTMLTextAreaElement[] {
  return fields().filter((field) => !isAlike(field.value, field.defaultValue));
}

function isContested(field: HTMLTextAreaElement): boolean {
  return field.dataset.there !== undefined;
}

function state(text: string): void {
  const shown = card()?.querySelector(".state");
  if (shown) shown.textContent = text;
}

function saveTyped(): void {
  clearTimeout(timer);
  for (const { id } of typed()) {
    void enqueue(async () => {
      // By then it may be another element, or saved already.
      const field = typed().find((one) => one.id === id && !isContested(one));
      if (field?.form) await send(new FormData(field.form));
    });
  }
}

/** One request at a time: each says what the one before has left. */
function enqueue(work: () => Promise<void>, failed = notSaved): Promise<unknown> {
  queue = queue.then(work, work).catch(failed);
  return queue;
}

function notSaved(): void {
  state("Not saved");
  tell("This is not saved: cli view has stopped, or cannot be reached. What you typed is still here.");
}

function notSeen(): void {
  tell("cli view has stopped; this page shows what it said last.");
}

async function send(data: FormData): Promise<void> {
  const [address, name] = [card()?.dataset.label, String(data.get("field"))];
  if (!address) return;
  state("Saving …");
  // Requests before this one may have changed it.
  data.set("was", wasOf(name) ?? String(data.get("was")));
  const answer = await fetch(address, {
    method: "POST",
    body: encoded(data),
    headers: PART,
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  if (!answer.ok && answer.status !== 409) throw new Error(String(answer.status));
  etag = answer.headers.get("etag");
  if (answer.ok && data.has("take")) for (const field of typed()) if (nameOf(field) === name) field.value = "";
  exchange(await answer.text(), answer.ok ? name : null, !answer.ok);
  state(answer.ok ? "Saved" : "Not saved");
  tell(null);
}

function wasOf(name: string): string | undefined {
  const was = all<HTMLInputElement>("input[name=was]", card() ?? document);
  return was.find((one) => nameOf(one) === name)?.value;
}

/** The name of the label's field that a control is for. */
function nameOf(control: HTMLInputElement | HTMLTextAreaElement): string | undefined {
  return control.form?.querySelector<HTMLInputElement>("[name=field]")?.value;
}

function encoded(data: FormData): URLSearchParams {
  return new URLSearchParams([...data].map(([name, value]) => [name, String(value)]));
}

/** What was typed within the last second, when the page is left. */
function keep(): void {
  const address = card()?.dataset.label;
  for (const field of typed()) {
    if (!address || !field.form || isContested(field)) continue;
    const body = encoded(new FormData(field.form));
    void fetch(address, { method: "POST", body, headers: PART, keepalive: true }).catch(() => undefined);
  }
}

/** Whether the file has changed; not while something is being saved. */
async function look(): Promise<void> {
  const address = card()?.dataset.label;
  if (!address || document.hidden) return;
  const work = async (): Promise<void> => {
    const headers: Record<string, string> = etag === null ? PART : { ...PART, "If-None-Match": etag };
    const answer = await fetch(address, { cache: "no-store", headers, signal: AbortSignal.timeout(ANSWER_MS) });
    if (answer.status === 304 || !answer.ok) return;
    etag = answer.headers.get("etag");
    if (exchange(await answer.text(), null)) state("Changed on disk");
    tell(null);
  };
  await enqueue(work, notSeen);
}

/**
 * Show the label as the server has it, and keep what is being typed; whether anything is different.
 *
 * A refusal is shown in any case, and stays until something else changes.
 */
function exchange(html: string, saved: string | null, isRefusal = false): boolean {
  const before = card();
  const after = new DOMParser().parseFromString(html, "text/html").getElementById("label");
  if (!before || !after || (!isRefusal && contentOf(before) === contentOf(after))) return false;
  const refocus = focusIn(before);
  const next = document.adoptNode(after);
  const pairs = fields(next).map((field) => [fields(before).find((old) => old.id === field.id), field] as const);
  const contested = pairs.filter(([old, field]) => old && carryOver(old, field, saved)).map(([, field]) => field);
  const [tag, freshTag] = [before, next].map((one) => one.querySelector<HTMLInputElement>("#tag"));
  if (tag && freshTag && saved !== "evalTags") freshTag.value = tag.value;
  before.replaceWith(next);
  contested.forEach(addDecision);
  refocus();
  document.dispatchEvent(new Event("label:exchanged"));
  return true;
}

function contentOf(label: HTMLElement): string {
  const digests = all<HTMLInputElement>("input[name=was]", label).map((one) => one.value);
  return [...digests, ...all(":scope > .note", label).map((one) => one.textContent)].join("\n");
}

/** Keep what is being typed in `old`; whether the file has another text meanwhile. */
function carryOver(old: HTMLTextAreaElement, field: HTMLTextAreaElement, saved: string | null): boolean {
  const there = field.defaultValue;
  if (isAlike(old.value, old.defaultValue) && !isAlike(old.value, there)) return false;
  field.value = old.value;
  if (isAlike(old.value, there) || nameOf(field) === saved) return false;
  if (isAlike(there, old.defaultValue) && !isContested(old)) return false;
  field.dataset.there = there;
  return true;
}

function isAlike(a: string, b: string): boolean {
  return a.trimEnd() === b.trimEnd();
}

function addDecision(field: HTMLTextAreaElement): void {
  const there = field.dataset.there ?? "";
  const take = element("button", { type: "button", class: "button" }, "Take what is on disk");
  const mine = element("button", { type: "button", class: "button" }, "Keep mine");
  take.addEventListener("click", () => {
    field.value = there;
    decided(field);
    state("");
  });
  mine.addEventListener("click", () => {
    decided(field);
    saveTyped();
  });
  const shown = there.trim() ? element("pre", { class: "message", tabindex: "0" }, there) : "";
  const told = element(
    "p",
    {},
    there.trim() ? "It was changed on disk meanwhile:" : "It was removed on disk meanwhile.",
  );
  field.after(element("div", { class: "banner warn contested", role: "alert" }, told, shown, take, " ", mine));
}

function decided(field: HTMLTextAreaElement): void {
  delete field.dataset.there;
  field.parentElement?.querySelector(".contested")?.remove();
  field.focus();
}

/** Remembers which control has the focus, and what is selected in it; returns what restores both. */
function focusIn(label: HTMLElement): () => void {
  const at = document.activeElement;
  if (!(at instanceof HTMLElement) || !label.contains(at)) return () => undefined;
  const { id } = at;
  const isText = at instanceof HTMLTextAreaElement || at instanceof HTMLInputElement;
  const selection = isText ? ([at.selectionStart, at.selectionEnd] as const) : null;
  const top = at.scrollTop;
  return () => {
    const found = (id ? document.getElementById(id) : null) ?? card()?.querySelector<HTMLElement>("#tag");
    found?.focus({ preventScroll: true });
    if (selection && (found instanceof HTMLTextAreaElement || found instanceof HTMLInputElement)) {
      found.setSelectionRange(...selection);
      found.scrollTop = top;
    }
  };
}
