import { useMutation, useQuery } from "convex/react";
import { useState, type FormEvent } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

const LIST = "groceries";

export default function App() {
  const items = useQuery(api.items.inList, { list: LIST });
  const [name, setName] = useState("");
  const [failed, setFailed] = useState(false);

  const add = useMutation(api.items.add).withOptimisticUpdate((store, args) => {
    const current = store.getQuery(api.items.inList, { list: args.list });
    if (current !== undefined) {
      const added = { ...args, _id: crypto.randomUUID() as Id<"items">, _creationTime: Date.now(), bought: false };
      store.setQuery(api.items.inList, { list: args.list }, [...current, added]);
    }
  });

  const setBought = useMutation(api.items.setBought).withOptimisticUpdate((store, { itemId, bought }) => {
    const current = store.getQuery(api.items.inList, { list: LIST });
    if (current !== undefined) {
      const changed = current.map((item) => (item._id === itemId ? { ...item, bought } : item));
      store.setQuery(api.items.inList, { list: LIST }, changed);
    }
  });

  async function save(change: Promise<null>) {
    try {
      await change;
      setFailed(false);
    } catch {
      setFailed(true);
    }
  }

  function submit(event: FormEvent) {
    event.preventDefault();
    setName("");
    void save(add({ list: LIST, name: name.trim() }));
  }

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
      <form onSubmit={submit}>
        <input aria-label="New item" value={name} onChange={(event) => setName(event.target.value)} />
        <button type="submit" disabled={name.trim() === ""}>
          Add
        </button>
      </form>
      {failed && <p role="alert">Could not save</p>}
    </main>
  );
}
