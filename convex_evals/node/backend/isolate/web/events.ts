/**
 * `Event` and `EventTarget`. There are no documents: a target has no parent, and an event's path is its target.
 *
 * https://dom.spec.whatwg.org/#events
 * get-convex/convex-backend npm-packages/udf-runtime/src/02_event.ts
 */

import { DOMException } from "./dom_exception.ts";
import { defineConstants, defineInterface, requireArguments } from "./interface.ts";

interface EventState {
  readonly type: string;
  readonly bubbles: boolean;
  readonly cancelable: boolean;
  readonly composed: boolean;
  readonly timeStamp: number;
  isTrusted: boolean;
  target: EventTarget | null;
  isDispatched: boolean;
  isStopped: boolean;
  isStoppedAtOnce: boolean;
  isCanceled: boolean;
  isInPassiveListener: boolean;
}

const AT_TARGET = 2;

let stateOf: (event: Event) => EventState;

function isEvent(value: unknown): value is Event {
  try {
    return stateOf(value as Event) !== undefined;
  } catch {
    return false;
  }
}

export class Event {
  declare readonly isTrusted: boolean;
  readonly #state: EventState;

  static {
    stateOf = (event) => event.#state;
  }

  constructor(type: unknown, init?: EventInit | null) {
    if (arguments.length === 0) {
      throw new TypeError("Failed to construct 'Event': 1 argument required, but only 0 present.");
    }
    this.#state = {
      type: String(type),
      bubbles: Boolean(init?.bubbles),
      cancelable: Boolean(init?.cancelable),
      composed: Boolean(init?.composed),
      // The clock that the app sees: in queries and mutations it stands still.
      timeStamp: Date.now(),
      isTrusted: false,
      target: null,
      isDispatched: false,
      isStopped: false,
      isStoppedAtOnce: false,
      isCanceled: false,
      isInPassiveListener: false,
    };
    Object.defineProperty(this, "isTrusted", { get: isTrusted, enumerable: true });
  }

  get type(): string {
    return this.#state.type;
  }

  get target(): EventTarget | null {
    return this.#state.target;
  }

  get srcElement(): EventTarget | null {
    return this.#state.target;
  }

  get currentTarget(): EventTarget | null {
    return this.#state.isDispatched ? this.#state.target : null;
  }

  composedPath(): EventTarget[] {
    const target = this.currentTarget;
    return target === null ? [] : [target];
  }

  get eventPhase(): number {
    return this.#state.isDispatched ? AT_TARGET : 0;
  }

  stopPropagation(): void {
    this.#state.isStopped = true;
  }

  get cancelBubble(): boolean {
    return this.#state.isStopped;
  }

  set cancelBubble(stop: unknown) {
    if (stop) this.#state.isStopped = true;
  }

  stopImmediatePropagation(): void {
    this.#state.isStopped = true;
    this.#state.isStoppedAtOnce = true;
  }

  get bubbles(): boolean {
    return this.#state.bubbles;
  }

  get cancelable(): boolean {
    return this.#state.cancelable;
  }

  get returnValue(): boolean {
    return !this.#state.isCanceled;
  }

  set returnValue(value: unknown) {
    if (!value) this.preventDefault();
  }

  preventDefault(): void {
    const state = this.#state;
    if (state.cancelable && !state.isInPassiveListener) state.isCanceled = true;
  }

  get defaultPrevented(): boolean {
    return this.#state.isCanceled;
  }

  get composed(): boolean {
    return this.#state.composed;
  }

  get timeStamp(): number {
    return this.#state.timeStamp;
  }
}

// One for all events: it cannot be told apart from event to event.
function isTrusted(this: Event): boolean {
  return stateOf(this).isTrusted;
}

defineConstants(Event, { NONE: 0, CAPTURING_PHASE: 1, AT_TARGET, BUBBLING_PHASE: 3 });
defineInterface(Event, "Event");

type Callback = ((this: EventTarget, event: Event) => unknown) | { handleEvent?: (event: Event) => unknown } | null;

interface ListenerOptions {
  readonly capture?: unknown;
  readonly once?: unknown;
  readonly passive?: unknown;
  readonly signal?: EventTarget & { readonly aborted: boolean };
}

interface Listener {
  readonly type: string;
  readonly callback: NonNullable<Callback>;
  readonly capture: boolean;
  readonly once: boolean;
  readonly passive: boolean;
  removed: boolean;
}

function capturing(options: unknown): boolean {
  if (typeof options !== "object" || options === null) return Boolean(options);
  return Boolean((options as ListenerOptions).capture);
}

let dispatch: (target: EventTarget, event: Event) => boolean;

/** Dispatches an event that is not the app's own making. */
export function fire(target: EventTarget, type: string): void {
  const event = new Event(type);
  stateOf(event).isTrusted = true;
  dispatch(target, event);
}

export class EventTarget {
  #listeners: readonly Listener[] = [];

  static {
    dispatch = (target, event) => target.#dispatch(event);
  }

  addEventListener(type: unknown, callback: Callback, options?: ListenerOptions | boolean | null): void {
    requireArguments(arguments.length, 2, "'addEventListener' on 'EventTarget'");
    const known = this.#listeners;
    if (callback == null) return;
    if (typeof callback !== "function" && typeof callback !== "object") {
      throw new TypeError(
        "Failed to execute 'addEventListener' on 'EventTarget': parameter 2 is not of type 'Object'.",
      );
    }
    const { once, passive, signal } = (typeof options === "object" && options) || {};
    const capture = capturing(options);
    const name = String(type);
    if (signal?.aborted || find(known, name, callback, capture)) return;
    const listener = { type: name, callback, capture, once: Boolean(once), passive: Boolean(passive), removed: false };
    this.#listeners = [...known, listener];
    signal?.addEventListener("abort", () => this.#remove(listener));
  }

  removeEventListener(type: unknown, callback: Callback, options?: ListenerOptions | boolean | null): void {
    requireArguments(arguments.length, 2, "'removeEventListener' on 'EventTarget'");
    const listener = find(this.#listeners, String(type), callback, capturing(options));
    if (listener) this.#remove(listener);
  }

  dispatchEvent(event: Event): boolean {
    requireArguments(arguments.length, 1, "'dispatchEvent' on 'EventTarget'");
    if (!isEvent(event)) {
      throw new TypeError("Failed to execute 'dispatchEvent' on 'EventTarget': parameter 1 is not of type 'Event'.");
    }
    if (stateOf(event).isDispatched) throw new DOMException("Invalid event state.", "InvalidStateError");
    stateOf(event).isTrusted = false;
    return this.#dispatch(event);
  }

  #remove(listener: Listener): void {
    listener.removed = true;
    this.#listeners = this.#listeners.filter((other) => other !== listener);
  }

  // What a listener throws, `dispatchEvent` throws, as in Convex, where nothing else would tell of it.
  #dispatch(event: Event): boolean {
    const state = stateOf(event);
    state.target = this;
    state.isDispatched = true;
    try {
      for (const phase of [true, false]) {
        const meant = this.#listeners.filter(({ type, capture }) => type === state.type && capture === phase);
        for (const listener of state.isStopped ? [] : meant) {
          if (!listener.removed) this.#call(listener, event, state);
          if (state.isStoppedAtOnce) break;
        }
      }
    } finally {
      Object.assign(state, { isDispatched: false, isStopped: false, isStoppedAtOnce: false });
    }
    return !state.isCanceled;
  }

  #call(listener: Listener, event: Event, state: EventState): void {
    if (listener.once) this.#remove(listener);
    state.isInPassiveListener = listener.passive;
    const { callback } = listener;
    try {
      if (typeof callback === "function") Reflect.apply(callback, this, [event]);
      else if (typeof callback.handleEvent === "function") callback.handleEvent(event);
    } finally {
      state.isInPassiveListener = false;
    }
  }
}

function find(
  listeners: readonly Listener[],
  type: string,
  callback: Callback,
  capture: boolean,
): Listener | undefined {
  return listeners.find((one) => one.type === type && one.callback === callback && one.capture === capture);
}

defineInterface(EventTarget, "EventTarget");
