import type { OptimisticLocalStore } from "convex/browser";
import { useMutation, useQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

const LIST = "groceries";

/** Shows a new item until the backend has stored it. */
function showAdded(store: OptimisticLocalStore, { list, name }: { list: string; name: string }) {
  const current = store.getQuery(api.items.inList, { list });
  if (current === undefined) {
    return;
  }
  const item = {
    _id: crypto.randomUUID() as Id<"items">,
    _creationTime: Date.now(),
    list,
    name,
    bought: false,
  };
  store.setQuery(api.items.inList, { list }, [...current, item]);
}

export default function App() {
  const items = useQuery(api.items.inList, { list: LIST });
  const [text, setText] = useState("");
  const [failed, setFailed] = useState(false);

  const add = useMutation(api.items.add).withOptimisticUpdate(showAdded);

  const setBought = useMutation(api.items.setBought).withOptimisticUpdate(
    (store, { itemId, bought }) => {
      const current = store.getQuery(api.items.inList, { list: LIST });
      if (current !== undefined) {
        store.setQuery(
          api.items.inList,
          { list: LIST },
          current.map((item) => (item._id === itemId ? { ...item, bought } : item)),
        );
      }
    },
  );

  const save = async (change: Promise<unknown>) => {
    try {
      await change;
      setFailed(false);
    } catch {
      setFailed(true);
    }
  };

  const name = text.trim();

  const submit = async () => {
    if (name === "") {
      return;
    }
    await save(add({ list: LIST, name }));
    setText("");
  };

  return (
    <main>
      {items === undefined ? (
        <p>Loading...</p>
      ) : (
        <ul>
          {items.map((item) => (
            <li key={item._id}>
              <button
                type="button"
                aria-pressed={item.bought}
                onClick={() => void save(setBought({ itemId: item._id, bought: !item.bought }))}
              >
                {item.name}
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <input aria-label="New item" value={text} onChange={(e) => setText(e.target.value)} />
        <button type="submit" disabled={name === ""}>
          Add
        </button>
      </form>
      {failed && <p role="alert">Could not save</p>}
    </main>
  );
}
