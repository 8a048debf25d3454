/** Small helpers. Texts are hostile: elements are made of text nodes, never of markup. */

/** An element with attributes and children; a string among the children is text. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export function all<T extends Element>(selector: string, root: ParentNode = document): T[] {
  return [...root.querySelectorAll<T>(selector)];
}

export function isVisible(at: Element): boolean {
  return at.getClientRects().length > 0;
}

/** What the reader chose earlier. Storage may be forbidden, or full: then a choice lasts as long as the page. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
  } catch {
    // As above.
  }
}

/** Where buttons that only scripts can serve have their place: in the header. */
export function tools(): Element {
  const found = document.querySelector(".tools");
  if (found) return found;
  const made = element("div", { class: "tools" });
  (document.querySelector("header.top") ?? document.body).append(made);
  return made;
}
