import { useMutation, useQuery } from "convex/react";
import { useState, type FormEvent } from "react";
import { api } from "../convex/_generated/api";

export default function App() {
  const messages = useQuery(api.messages.list);
  const send = useMutation(api.messages.send);
  const [name, setName] = useState("");
  const [body, setBody] = useState("");
  const [failed, setFailed] = useState(false);

  async function submit(event: FormEvent) {
    event.preventDefault();
    try {
      await send({ author: name.trim(), body: body.trim() });
      setBody("");
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
          {messages.map((message) => (
            <li key={message._id}>
              {message.author}: {message.body}
            </li>
          ))}
        </ul>
      )}
      <form onSubmit={(event) => void submit(event)}>
        <input aria-label="Name" value={name} onChange={(event) => setName(event.target.value)} />
        <input aria-label="Message" value={body} onChange={(event) => setBody(event.target.value)} />
        <button type="submit" disabled={name.trim() === "" || body.trim() === ""}>
          Send
        </button>
      </form>
      {failed && <p role="alert">Could not send</p>}
    </main>
  );
}
