/** Texts that a page carries compressed, as few readers open them. */
import { all, element } from "./dom.ts";

/** More than any reply has: a page that was tampered with should not fill the memory. */
const MOST_BYTES = 32 * 1024 * 1024;

export function enablePacked(): void {
  for (const packed of all<HTMLElement>(".packed[data-deflate], .packed[data-of]")) {
    if (!packed.querySelector("button")) addButton(packed);
  }
}

function addButton(packed: HTMLElement): void {
  const label = packed.dataset.label ?? "Show the text";
  const button = element("button", { type: "button", "aria-expanded": "false" }, label);
  let shown: HTMLElement | undefined;
  const open = async (): Promise<void> => {
    if (shown) shown.hidden = !shown.hidden;
    else {
      button.disabled = true;
      shown = element("pre", { class: "code", tabindex: "0" }, await textOf(packed));
      packed.append(shown);
      button.disabled = false;
      button.focus();
    }
    button.ariaExpanded = String(!shown.hidden);
  };
  button.addEventListener("click", () => void open());
  packed.append(button);
}

/** The text of an element, or one part of a list of texts that several share: alike texts are small together. */
async function textOf(packed: HTMLElement): Promise<string> {
  const { of, part, deflate } = packed.dataset;
  if (!of) return await inflate(deflate ?? "");
  const list = await inflate(document.getElementById(of)?.dataset.deflate ?? "");
  try {
    return String((JSON.parse(list) as unknown[])[Number(part)]);
  } catch {
    return list;
  }
}

async function inflate(base64: string): Promise<string> {
  try {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (let size = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size += value.length;
      text += decoder.decode(value, { stream: true });
      if (size > MOST_BYTES) return `${text}\n… the rest is left out: more than ${MOST_BYTES / 2 ** 20} MiB`;
    }
  } catch {
    return "This text cannot be unpacked: the page is damaged, or the browser is too old.";
  }
}
