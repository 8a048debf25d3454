import { useQuery } from "convex/react";
import { api } from "../convex/_generated/api";

/** The messages, the oldest on top. The backend returns the newest first. */
export function MessageList() {
  const newestFirst = useQuery(api.messages.list);
  if (newestFirst === undefined) {
    return <p>Loading...</p>;
  }
  // A copy: the array belongs to the Convex client.
  const oldestFirst = [...newestFirst].reverse();
  return (
    <ul>
      {oldestFirst.map((message) => (
        <li key={message._id}>{`${message.author}: ${message.body}`}</li>
      ))}
    </ul>
  );
}
