import { useQuery } from "convex/react";
import type { FunctionReturnType } from "convex/server";
import { api } from "../convex/_generated/api";

type Message = FunctionReturnType<typeof api.messages.list>[number];

const Line = ({ message: { author, body } }: { message: Message }) => <li>{`${author}: ${body}`}</li>;

export function Messages() {
  const newestFirst = useQuery(api.messages.list, {});
  if (!newestFirst) return <div>Loading...</div>;
  return <ul>{[...newestFirst].sort((a, b) => a._creationTime - b._creationTime).map((message) => <Line key={message._id} message={message} />)}</ul>;
}
