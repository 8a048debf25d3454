import { AddItem } from "./AddItem";
import { useShoppingList } from "./useShoppingList";

export default function App() {
  const { items, couldNotSave, add, toggle } = useShoppingList("groceries");
  return (
    <main>
      {items === undefined ? (
        <p>Loading...</p>
      ) : (
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
      <AddItem onAdd={add} />
      {couldNotSave && <p role="alert">Could not save</p>}
    </main>
  );
}
