import { useMutation, useQuery } from "convex/react";
import type { FunctionReturnType } from "convex/server";
import { startTransition, useOptimistic, useRef, useState } from "react";
import { api } from "../convex/_generated/api";
import type { Id } from "../convex/_generated/dataModel";

type Items = FunctionReturnType<typeof api.items.inList>;
type Change = { add: string } | { itemId: Id<"items">; bought: boolean };

const list = "groceries";
let serial = 0;

const apply = (items: Items | undefined, change: Change): Items | undefined => {
  if (!items) return items;
  if ("add" in change) {
    serial += 1;
    return items.concat({ _id: `new ${serial}` as Id<"items">, _creationTime: serial, list, name: change.add, bought: false });
  }
  return items.map((item) => (item._id === change.itemId ? { ...item, bought: change.bought } : item));
};

const App = () => {
  const [items, show] = useOptimistic(useQuery(api.items.inList, { list }), apply);
  const add = useMutation(api.items.add);
  const setBought = useMutation(api.items.setBought);
  const input = useRef<HTMLInputElement>(null);
  const [ready, setReady] = useState(false);
  const [alert, setAlert] = useState<string>();

  const run = (change: Change) =>
    startTransition(async () => {
      show(change);
      const saving = "add" in change ? add({ list, name: change.add }) : setBought(change);
      await saving.then(
        () => setAlert(undefined),
        () => setAlert("Could not save"),
      );
    });

  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!input.current) return;
          run({ add: input.current.value.trim() });
          input.current.value = "";
          setReady(false);
        }}
      >
        <label>
          What is missing? <input ref={input} aria-label="New item" onInput={(event) => setReady(event.currentTarget.value.trim() !== "")} />
        </label>
        <button disabled={!ready} type="submit">
          Add
        </button>
        {alert && <div role="alert">{alert}</div>}
      </form>
      {items ? (
        <ul>
          {items.map(({ _id, name, bought }) => (
            <li key={_id}>
              <button type="button" aria-pressed={bought ? "true" : "false"} onClick={() => run({ itemId: _id, bought: !bought })}>
                <b>{name}</b>
              </button>
            </li>
          ))}
        </ul>
      ) : (
        "Loading..."
      )}
    </>
  );
};

export default App;
