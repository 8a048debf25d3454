/** What a grader and the process that shows the page say to each other. */

export type PageCommand =
  | { kind: "start"; script: string }
  | { kind: "texts"; selector: string }
  | { kind: "values"; selector: string }
  | { kind: "states"; selector: string }
  | { kind: "fill"; selector: string; value: string }
  | { kind: "click"; selector: string }
  | { kind: "errors" };

export interface PageRequest {
  id: number;
  command: PageCommand;
}

export type PageReply = { id: number; ok: true; values: string[] } | { id: number; ok: false; message: string };
