import type { OptimisticLocalStore } from "convex/browser";
import { useConvex, useQuery } from "convex/react";
import { useRef, useState } from "react";
import { api } from "../convex/_generated/api";
import type { Doc, Id } from "../convex/_generated/dataModel";

type Item = Doc<"items">;

/** The ids that new items have until the backend has stored them. */
const TEMPORARY = "unsaved:";
const isTemporary = (id: Id<"items">) => id.startsWith(TEMPORARY);
let temporaryIds = 0;
const temporaryId = () => `${TEMPORARY}${++temporaryIds}` as Id<"items">;

/** Changes what is shown of a list. Nothing happens while the list is still loading. */
function updateList(
  store: OptimisticLocalStore,
  list: string,
  change: (items: Item[]) => Item[],
) {
  const items = store.getQuery(api.items.inList, { list });
  if (items !== undefined) {
    store.setQuery(api.items.inList, { list }, change(items));
  }
}

/** A list with the changes that wait for an answer, and the functions that change it. */
export function useShoppingList(list: string) {
  const convex = useConvex();
  const saved = useQuery(api.items.inList, { list });
  const [couldNotSave, setCouldNotSave] = useState(false);

  // An item cannot be changed in the backend before it has its real id. What the user wants of
  // it is kept here until then. The ref is the truth, the state is what is rendered.
  const wishes = useRef<ReadonlyMap<Id<"items">, boolean>>(new Map());
  const [shownWishes, setShownWishes] = useState<ReadonlyMap<Id<"items">, boolean>>(new Map());

  const changeWishes = (change: (wishes: Map<Id<"items">, boolean>) => void) => {
    const next = new Map(wishes.current);
    change(next);
    wishes.current = next;
    setShownWishes(next);
  };

  const setBought = async (itemId: Id<"items">, bought: boolean) => {
    try {
      await convex.mutation(
        api.items.setBought,
        { itemId, bought },
        {
          optimisticUpdate: (store) =>
            updateList(store, list, (items) =>
              items.map((item) => (item._id === itemId ? { ...item, bought } : item)),
            ),
        },
      );
      setCouldNotSave(false);
    } catch {
      setCouldNotSave(true);
    }
  };

  const addItem = async (name: string) => {
    const unsaved: Item = {
      _id: temporaryId(),
      _creationTime: Date.now(),
      list,
      name,
      bought: false,
    };
    // What was there besides the new item when it was last put on top of the backend's items.
    let others = new Set<Id<"items">>();
    try {
      await convex.mutation(
        api.items.add,
        { list, name },
        {
          optimisticUpdate: (store) =>
            updateList(store, list, (items) => {
              others = new Set(items.map((item) => item._id));
              return [...items, unsaved];
            }),
        },
      );
      setCouldNotSave(false);
    } catch {
      setCouldNotSave(true);
      changeWishes((next) => next.delete(unsaved._id));
      return;
    }
    // The list has the stored item now.
    const wish = wishes.current.get(unsaved._id) ?? false;
    changeWishes((next) => next.delete(unsaved._id));
    if (wish) {
      const current = convex.watchQuery(api.items.inList, { list }).localQueryResult() ?? [];
      const stored = current.find(
        (item) => item.name === name && !isTemporary(item._id) && !others.has(item._id),
      );
      if (stored !== undefined) {
        await setBought(stored._id, wish);
      }
    }
  };

  const items = saved?.map((item) => ({
    ...item,
    bought: shownWishes.get(item._id) ?? item.bought,
  }));

  return {
    items,
    couldNotSave,
    add: (name: string) => {
      void addItem(name);
    },
    toggle: ({ _id, bought }: Item) => {
      if (isTemporary(_id)) {
        changeWishes((next) => next.set(_id, !bought));
      } else {
        void setBought(_id, !bought);
      }
    },
  };
}
