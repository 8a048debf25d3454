import { useMutation } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";

export function MessageForm() {
  const send = useMutation(api.messages.send);
  const [name, setName] = useState("");
  const [message, setMessage] = useState("");
  const [failed, setFailed] = useState(false);

  const author = name.trim();
  const body = message.trim();
  const isComplete = author !== "" && body !== "";

  async function submit() {
    if (!isComplete) {
      return;
    }
    try {
      await send({ author, body });
      setMessage("");
      setFailed(false);
    } catch {
      setFailed(true);
    }
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <input
        aria-label="Name"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <input
        aria-label="Message"
        value={message}
        onChange={(event) => setMessage(event.target.value)}
      />
      <button type="submit" disabled={!isComplete}>
        Send
      </button>
      {failed ? <p role="alert">Could not send</p> : null}
    </form>
  );
}
