import { useMutation, useQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";

export default function App() {
  const messages = useQuery(api.messages.list);
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
    <main>
      {messages === undefined ? (
        <p>Loading...</p>
      ) : (
        <ul>
          {messages.reverse().map((m) => (
            <li key={m._id}>{`${m.author}: ${m.body}`}</li>
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <input aria-label="Name" value={name} onChange={(e) => setName(e.target.value)} />
        <input aria-label="Message" value={message} onChange={(e) => setMessage(e.target.value)} />
        <button type="submit" disabled={!isComplete}>
          Send
        </button>
        {failed && <p role="alert">Could not send</p>}
      </form>
    </main>
  );
}
