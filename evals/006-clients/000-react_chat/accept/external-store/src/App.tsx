import { useConvex } from "convex/react";
import { startTransition, useActionState, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import { api } from "../convex/_generated/api";

function useMessages() {
  const convex = useConvex();
  const store = useMemo(() => {
    const watch = convex.watchQuery(api.messages.list, {});
    // The same function in every render: with another one React would subscribe anew, and the list be gone for a moment.
    return { subscribe: (changed: () => void) => watch.onUpdate(changed), read: () => watch.localQueryResult() };
  }, [convex]);
  return useSyncExternalStore(store.subscribe, store.read);
}

export default function Chat() {
  const convex = useConvex();
  const messages = useMessages();
  const author = useRef<HTMLInputElement>(null);
  const body = useRef<HTMLInputElement>(null);
  const [complete, setComplete] = useState(false);

  const text = (input: typeof author) => input.current?.value.trim() ?? "";
  const typed = () => setComplete(Boolean(text(author) && text(body)));

  const [failed, send] = useActionState(async (): Promise<boolean> => {
    try {
      await convex.mutation(api.messages.send, { author: text(author), body: text(body) });
    } catch {
      return true;
    }
    if (body.current) body.current.value = "";
    typed();
    return false;
  }, false);

  return (
    <div>
      {failed && <div role="alert">Could not send</div>}
      {messages ? (
        <ul>
          {messages.reduceRight<ReactNode[]>((lines, { _id, author, body }) => {
            lines.push(
              <li key={_id}>
                <b>{author}</b>: <span>{body}</span>
              </li>,
            );
            return lines;
          }, [])}
        </ul>
      ) : (
        "Loading..."
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          startTransition(send);
        }}
      >
        <input aria-label="Name" ref={author} onChange={typed} />
        <input aria-label="Message" ref={body} onChange={typed} />
        <button type="submit" disabled={!complete}>
          Send
        </button>
      </form>
    </div>
  );
}
