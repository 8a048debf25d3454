import { useMutation, useQuery } from "convex/react";
import { useState, type FormEvent } from "react";
import { api } from "../convex/_generated/api";

const LIST = "groceries";

export default function App() {
  const items = useQuery(api.items.inList, { list: LIST });
  const [name, setName] = useState("");
  const [failed, setFailed] = useState(false);
  const [added, setAdded] = useState<string[]>([]);

  const add = useMutation(api.items.add);

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
    setAdded((names) => [...names, name.trim()]);
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
          {added
            .filter((pending) => !items.some((item) => item.name === pending))
            .map((pending) => (
              <li key={pending}>
                <button type="button" aria-pressed={false}>
                  {pending}
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
