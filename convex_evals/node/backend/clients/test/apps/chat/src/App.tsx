import { useMutation, useQuery } from "convex/react";
import { useState, type FormEvent } from "react";
import { api } from "../convex/_generated/api";

export default function App({ room, author }: { room: string; author: string }) {
  const messages = useQuery(api.messages.list, { room });
  const present = useQuery(api.presence.list, { room });
  const send = useMutation(api.messages.send).withOptimisticUpdate((store, message) => {
    const shown = store.getQuery(api.messages.list, { room });
    if (shown === undefined) return;
    const pending = { ...message, _id: "pending" as (typeof shown)[number]["_id"], _creationTime: 0 };
    store.setQuery(api.messages.list, { room }, [...shown, pending]);
  });
  const heartbeat = useMutation(api.presence.heartbeat);
  const [body, setBody] = useState("");

  function type(text: string) {
    setBody(text);
    void heartbeat({ room, user: author, typing: text !== "", lifetimeMs: 60_000 });
  }

  async function submit(event: FormEvent) {
    event.preventDefault();
    setBody("");
    await send({ room, author, body });
  }

  if (messages === undefined) return <p id="loading">Loading</p>;
  return (
    <main>
      <ul id="messages">
        {messages.map((message) => (
          <li key={message._id} className={message._id === "pending" ? "pending" : "sent"}>
            {message.author}: {message.body}
          </li>
        ))}
      </ul>
      <p id="typing">{present?.filter(({ typing, user }) => typing && user !== author).map(({ user }) => `${user} is typing`)}</p>
      <form onSubmit={(event) => void submit(event)}>
        <input id="body" value={body} onChange={(event) => type(event.target.value)} />
        <button id="send" disabled={body === ""}>
          Send
        </button>
      </form>
    </main>
  );
}
