/** The process of one page: a browser-like window that does what the grader asks, beginning with the app's script. */
import { Window } from "happy-dom";
import { projectDir } from "./connection.ts";
import { bundlePage } from "./page_bundle.ts";
import type { PageCommand, PageReply, PageQuestion } from "./page_protocol.ts";

if (process.send === undefined) throw new Error("This process is started by `openPage`");
const reply = process.send.bind(process) as (message: PageReply) => boolean;

const project = projectDir();
// Apps see what is there, as in a browser: nothing.
delete process.env.MODEL_OUTPUT_DIR;

const errors: string[] = [];
console.error = (...parts: unknown[]) => void errors.push(parts.map(String).join(" "));

const window = new Window({
  url: "http://localhost/",
  // happy-dom's own console throws in methods that React's development build calls.
  console,
  settings: { enableJavaScriptEvaluation: true, suppressInsecureJavaScriptEnvironmentWarning: true },
});
const { document } = window;
window.addEventListener(
  "error",
  (event) => void errors.push(String((event as unknown as ErrorEvent).error ?? "error")),
);
process.on("uncaughtException", (error) => void errors.push(String(error)));
process.on("unhandledRejection", (reason) => void errors.push(String(reason)));
process.on("disconnect", () => process.exit());

function all(selector: string): HTMLElement[] {
  return [...document.querySelectorAll(selector)] as unknown as HTMLElement[];
}

function only(selector: string): HTMLElement {
  const [element, ...more] = all(selector);
  if (element === undefined) throw new Error(`The page must have an element \`${selector}\``);
  if (more.length > 0) throw new Error(`The page must have one element \`${selector}\`, not ${more.length + 1}`);
  return element;
}

function fill(selector: string, value: string): void {
  const field = only(selector);
  // React watches the property `value` of the element itself: only its class's own setter counts as typing.
  const setter = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field) as object, "value")?.set;
  if (setter === undefined) throw new Error(`The element \`${selector}\` must be a field with a value`);
  setter.call(field, value);
  field.dispatchEvent(new window.Event("input", { bubbles: true }) as unknown as Event);
  field.dispatchEvent(new window.Event("change", { bubbles: true }) as unknown as Event);
}

/** An app that throws at once leaves an empty page, like one that throws later. */
function start(script: string): void {
  document.body.innerHTML = '<div id="root"></div>';
  try {
    window.eval(script);
  } catch (error) {
    errors.push(String(error));
  }
}

async function run(command: PageCommand): Promise<string[]> {
  switch (command.kind) {
    case "start":
      start(await bundlePage(project, command.app, command.backend));
      return [];
    case "texts":
      return all(command.selector).map((element) => (element.textContent ?? "").replace(/\s+/g, " ").trim());
    case "values":
      return all(command.selector).map((element) => (element as HTMLInputElement).value);
    case "states":
      return all(command.selector).map((element) => ((element as HTMLButtonElement).disabled ? "disabled" : "enabled"));
    case "fill":
      fill(command.selector, command.value);
      return [];
    case "click":
      only(command.selector).click();
      return [];
    case "errors":
      return errors;
    default:
      return command satisfies never;
  }
}

async function answer({ id, command }: PageQuestion): Promise<void> {
  try {
    reply({ id, ok: true, values: await run(command) });
  } catch (error) {
    reply({ id, ok: false, message: error instanceof Error ? error.message : String(error) });
  }
}

process.on("message", (request: PageQuestion) => void answer(request));
