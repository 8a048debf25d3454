import { useState } from "react";
import { useShoppingList } from "./useShoppingList";

export default function ShoppingList() {
  const [saved, setSaved] = useState(true);
  const { items, add, toggle } = useShoppingList("groceries", setSaved);
  const [draft, setDraft] = useState("");
  const name = draft.trim();

  return (
    <section>
      <h1>Groceries</h1>
      {!saved && <p role="alert">Could not save</p>}
      {items === undefined && <p>Loading...</p>}
      {items && (
        <ul>
          {items.map((item) => (
            <li key={item._id}>
              <button type="button" aria-pressed={item.bought} onClick={() => toggle(item)}>
                {item.name}
              </button>
            </li>
          ))}
        </ul>
      )}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (name) add(name);
          setDraft("");
        }}
      >
        <input aria-label="New item" placeholder="Bread" value={draft} onChange={({ target }) => setDraft(target.value)} />
        <button type="submit" disabled={!name}>
          Add
        </button>
      </form>
    </section>
  );
}
