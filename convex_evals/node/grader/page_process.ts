/** The process of one page: a browser-like window that does what the grader asks, beginning with the app's script. */
import { Window } from "happy-dom";
import { projectDir } from "./connection.ts";
import { bundlePage } from "./page_bundle.ts";
import type { PageCommand, PageReply, PageQuestion } from "./page_protocol.ts";
import { Sight } from "./page_sight.ts";

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
const sight = new Sight(window);
window.addEventListener(
  "error",
  (event) => void errors.push(String((event as unknown as ErrorEvent).error ?? "error")),
);
process.on("uncaughtException", (error) => void errors.push(String(error)));
process.on("unhandledRejection", (reason) => void errors.push(String(reason)));
process.on("disconnect", () => process.exit());

function fill(selector: string, value: string): void {
  const field = sight.type(selector, value);
  field.dispatchEvent(new window.Event("input", { bubbles: true }) as unknown as Event);
  field.dispatchEvent(new window.Event("change", { bubbles: true }) as unknown as Event);
}

function valueOf(element: Element): string {
  const value = sight.value(element);
  if (value === undefined) throw new Error(`The element <${element.localName}> must be a field with a value`);
  return value;
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
      return sight.shown(command.selector).map((element) => sight.text(element));
    case "values":
      return sight.shown(command.selector).map(valueOf);
    case "states":
      return sight.shown(command.selector).map((element) => (sight.isDisabled(element) ? "disabled" : "enabled"));
    case "fill":
      fill(command.selector, command.value);
      return [];
    case "click":
      (sight.clickable(command.selector) as HTMLElement).click();
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
