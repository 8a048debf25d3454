/**
 * What a person at the screen sees of a page, can type into and can click. The rules are those of `toBeVisible` of jest-dom, by
 * the page's own styles: CSS files are no part of its bundle, and nothing is laid out.
 *
 * What is asked of the page is taken from its window before the app runs, which may replace functions of the DOM.
 */
import type { Window } from "happy-dom";

/** Nothing of them is shown, whatever their style. */
const NEVER_SHOWN = new Set(["DATALIST", "HEAD", "NOSCRIPT", "SCRIPT", "STYLE", "TEMPLATE"]);
const WITH_VALUE = { INPUT: "HTMLInputElement", TEXTAREA: "HTMLTextAreaElement", SELECT: "HTMLSelectElement" } as const;
const CAN_BE_DISABLED = new Set([...Object.keys(WITH_VALUE), "BUTTON", "FIELDSET", "OPTION", "OPTGROUP"]);
const ELEMENT_NODE = 1;
const TEXT_NODE = 3;

interface Value {
  get(this: unknown): string;
  set(this: unknown, value: string): void;
}

/** The method of a class as a function of the object and its arguments. */
function method<T>(of: object, name: string): (self: unknown, ...parts: unknown[]) => T {
  const found = (of as Record<string, (...parts: unknown[]) => T>)[name]!;
  return (self, ...parts) => Reflect.apply(found, self, parts);
}

/** The getter of a class as a function of the object. */
function getter<T>(of: object, name: string): (self: unknown) => T {
  const found = Object.getOwnPropertyDescriptor(of, name)!.get as () => T;
  return (self) => Reflect.apply(found, self, []);
}

/** The elements of one page, as they are now. */
export class Sight {
  readonly #document: unknown;
  readonly #rendered = new Map<Element, boolean>();
  readonly #dom: ReturnType<typeof domOf>;

  constructor(window: Window) {
    this.#document = window.document;
    this.#dom = domOf(window);
  }

  /** The elements that match and are shown, in document order. */
  shown(selector: string): Element[] {
    this.#rendered.clear();
    return [...this.#dom.query(this.#document, selector)].filter((element) => this.#sees(element));
  }

  /** The only element that matches. Throws a message for authors of projects where there is none, or another number. */
  only(selector: string): Element {
    const [element, ...more] = this.shown(selector);
    if (element !== undefined && more.length === 0) return element;
    if (more.length > 0) throw new Error(`The page must have one element \`${selector}\`, not ${more.length + 1}`);
    const hidden = [...this.#dom.query(this.#document, selector)].length > 0;
    throw new Error(
      hidden ? `The element \`${selector}\` must be visible` : `The page must have an element \`${selector}\``,
    );
  }

  /** The text of an element that is shown, with runs of white space as one space. */
  text(element: Element): string {
    return this.#texts(element).join("").replace(/\s+/g, " ").trim();
  }

  value(element: Element): string | undefined {
    return this.#valueOf(element)?.get.call(element);
  }

  isDisabled(element: Element): boolean {
    if (!CAN_BE_DISABLED.has(this.#dom.tag(element))) return false;
    return this.#has(element, "disabled") || this.#isInDisabledFieldset(element);
  }

  /** Replace the value of the only field that matches. Throws where a person cannot type into it. */
  type(selector: string, value: string): Element {
    const field = this.only(selector);
    const own = this.#valueOf(field);
    if (own === undefined) throw new Error(`The element \`${selector}\` must be a field with a value`);
    if (this.isDisabled(field)) {
      throw new Error(`The field \`${selector}\` must not be disabled when it is to be filled in`);
    }
    if (this.#has(field, "readonly")) throw new Error(`The field \`${selector}\` must not be read-only`);
    if (this.#isInert(field)) throw new Error(`The field \`${selector}\` must not be inert`);
    // React watches the property `value` of the element itself: only its class's own setter counts as typing.
    own.set.call(field, value);
    return field;
  }

  /** The only element that matches. Throws where a person's click would not meet it. */
  clickable(selector: string): Element {
    const element = this.only(selector);
    const passes = this.#style(element, "pointer-events") === "none";
    if (passes || this.#isInert(element)) throw new Error(`The element \`${selector}\` must react to clicks`);
    return element;
  }

  #texts(node: unknown): string[] {
    const type = this.#dom.nodeType(node);
    if (type === TEXT_NODE) return this.#isVisible(this.#dom.parent(node)) ? [this.#dom.data(node)] : [];
    if (type !== ELEMENT_NODE || !this.#isRendered(node as Element)) return [];
    return [...this.#dom.children(node)].flatMap((child) => this.#texts(child));
  }

  #sees(element: Element): boolean {
    return this.#isRendered(element) && this.#isVisible(element);
  }

  #isVisible(element: Element | null): boolean {
    return element === null || !["hidden", "collapse"].includes(this.#style(element, "visibility"));
  }

  /** Whether neither the element nor one that it stands in is left out of the page, or transparent. */
  #isRendered(element: Element): boolean {
    const known = this.#rendered.get(element);
    if (known !== undefined) return known;
    const parent = this.#dom.parent(element);
    const found = this.#isRenderedItself(element, parent) && (parent === null || this.#isRendered(parent));
    this.#rendered.set(element, found);
    return found;
  }

  #isRenderedItself(element: Element, parent: Element | null): boolean {
    const tag = this.#dom.tag(element);
    if (NEVER_SHOWN.has(tag)) return false;
    if (tag === "INPUT" && this.#dom.attribute(element, "type")?.toLowerCase() === "hidden") return false;
    if (tag === "DIALOG" && !this.#has(element, "open")) return false;
    if (this.#has(element, "hidden") && !/\bdisplay\s*:/i.test(this.#dom.attribute(element, "style") ?? "")) {
      return false;
    }
    if (this.#style(element, "display") === "none") return false;
    const opacity = this.#style(element, "opacity");
    if (opacity !== "" && parseFloat(opacity) === 0) return false;
    if (parent === null || this.#dom.tag(parent) !== "DETAILS" || this.#has(parent, "open")) return true;
    return element === this.#childWithTag(parent, "SUMMARY");
  }

  #isInDisabledFieldset(element: Element): boolean {
    let inside = element;
    for (let at = this.#dom.parent(element); at !== null; inside = at, at = this.#dom.parent(at)) {
      if (this.#dom.tag(at) !== "FIELDSET" || !this.#has(at, "disabled")) continue;
      if (inside !== this.#childWithTag(at, "LEGEND")) return true;
    }
    return false;
  }

  #isInert(element: Element): boolean {
    for (let at: Element | null = element; at !== null; at = this.#dom.parent(at)) {
      if (this.#has(at, "inert")) return true;
    }
    return false;
  }

  /** The first child of this tag. */
  #childWithTag(parent: Element, tag: string): unknown {
    return [...this.#dom.children(parent)].find(
      (child) => this.#dom.nodeType(child) === ELEMENT_NODE && this.#dom.tag(child) === tag,
    );
  }

  #valueOf(element: Element): Value | undefined {
    return this.#dom.values.get(this.#dom.tag(element));
  }

  #has(element: Element, attribute: string): boolean {
    return this.#dom.attribute(element, attribute) !== null;
  }

  #style(element: Element, property: string): string {
    return this.#dom.property(this.#dom.style(element), property).trim().toLowerCase();
  }
}

/** What is asked of the window's DOM. */
function domOf(window: Window) {
  const { Document, Element: ElementClass, Node: NodeClass, CharacterData, CSSStyleDeclaration } = window;
  const style = window.getComputedStyle.bind(window);
  const values = Object.entries(WITH_VALUE).map(
    ([tag, name]) =>
      [tag, Object.getOwnPropertyDescriptor(window[name].prototype, "value") as unknown as Value] as const,
  );
  return {
    query: method<Iterable<Element>>(Document.prototype, "querySelectorAll"),
    attribute: method<string | null>(ElementClass.prototype, "getAttribute"),
    tag: getter<string>(ElementClass.prototype, "tagName"),
    parent: getter<Element | null>(NodeClass.prototype, "parentElement"),
    children: getter<Iterable<unknown>>(NodeClass.prototype, "childNodes"),
    nodeType: getter<number>(NodeClass.prototype, "nodeType"),
    data: getter<string>(CharacterData.prototype, "data"),
    style: (element: Element) => style(element as never),
    property: method<string>(CSSStyleDeclaration.prototype, "getPropertyValue"),
    values: new Map<string, Value>(values),
  };
}
