/** Lists of which some are chosen with check boxes, or all; and filters that the server applies. */
import { all, element } from "./dom.ts";

const enabled = new WeakSet<HTMLFormElement>();

export function enableChoosing(): void {
  for (const form of all<HTMLFormElement>("form[data-choose]")) if (!enabled.has(form)) enable(form);
  for (const form of all<HTMLFormElement>("form[data-submit=change]")) {
    if (enabled.has(form)) continue;
    enabled.add(form);
    form.addEventListener("change", (event) => {
      if (event.target instanceof HTMLSelectElement) form.requestSubmit();
    });
  }
}

function enable(form: HTMLFormElement): void {
  enabled.add(form);
  const every = form.querySelector<HTMLInputElement>("input[name=all]");
  const boxes = all<HTMLInputElement>("input[name=id]", form);
  const buttons = all<HTMLButtonElement>("button[type=submit]", form);
  const count = form.querySelector("output");
  const total = Number(form.dataset.choose);
  const tell = (): void => {
    const ticked = boxes.filter((box) => box.checked).length;
    const chosen = every?.checked ? total : ticked;
    if (count) count.textContent = chosen ? `${chosen.toLocaleString("en")} selected` : "";
    for (const button of buttons) button.disabled = chosen === 0;
  };
  form.addEventListener("change", (event) => {
    if (event.target === every) for (const box of boxes) box.checked = every?.checked ?? false;
    else if (every && event.target instanceof HTMLInputElement && event.target.name === "id") every.checked = false;
    tell();
  });
  form.addEventListener("submit", () => sayThatItComes(form));
  // Browsers restore what was ticked when the reader comes back.
  addEventListener("pageshow", tell);
  tell();
}

/** A download starts without a sign of it on the page. */
function sayThatItComes(form: HTMLFormElement): void {
  const count = form.querySelector("output");
  count?.append(element("span", {}, " …"));
  setTimeout(() => count?.querySelector("span")?.remove(), 2000);
}

/** Tick the box of the row that has the focus, or take the tick away. */
export function toggleRow(): boolean {
  const box = document.activeElement?.closest("tr")?.querySelector<HTMLInputElement>("input[type=checkbox][name=id]");
  box?.click();
  return Boolean(box);
}
