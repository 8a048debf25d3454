import { useMutation } from "convex/react";
import { useRef, useState, type ChangeEvent } from "react";
import { api } from "../convex/_generated/api";

export function Composer() {
  const send = useMutation(api.messages.send);
  const form = useRef<HTMLFormElement>(null);
  const [ready, setReady] = useState(false);
  const [outcome, setOutcome] = useState<"idle" | "failed">("idle");

  const read = () => {
    const data = new FormData(form.current ?? undefined);
    const text = (name: string) => String(data.get(name)).trim();
    return { author: text("author"), body: text("body") };
  };

  const changed = (_: ChangeEvent) => {
    const { author, body } = read();
    setReady(author !== "" && body !== "");
  };

  const submit = () => {
    send(read()).then(
      () => {
        const input = form.current?.elements.namedItem("body") as HTMLInputElement;
        input.value = "";
        setReady(false);
        setOutcome("idle");
      },
      () => setOutcome("failed"),
    );
  };

  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {outcome === "failed" ? <strong role="alert">Could not send</strong> : null}
      <label>
        Your name <input name="author" aria-label="Name" onChange={changed} />
      </label>
      <input name="body" aria-label="Message" onChange={changed} />
      <button type="submit" disabled={!ready}>
        <span>Send</span>
      </button>
    </form>
  );
}
