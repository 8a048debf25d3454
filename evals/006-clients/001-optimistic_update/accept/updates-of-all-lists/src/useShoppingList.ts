import { useMutation, useQuery } from "convex/react";
import { useMemo } from "react";
import { api } from "../convex/_generated/api";
import type { Doc, Id } from "../convex/_generated/dataModel";

const temporary = () => `temporary-${Math.random()}` as Id<"items">;

export function useShoppingList(list: string, onOutcome: (saved: boolean) => void) {
  const items = useQuery(api.items.inList, { list });

  const addMutation = useMutation(api.items.add);
  const add = useMemo(
    () =>
      addMutation.withOptimisticUpdate((localStore, item) => {
        for (const { args, value } of localStore.getAllQueries(api.items.inList)) {
          if (args.list !== item.list || value === undefined) continue;
          const placeholder: Doc<"items"> = { _id: temporary(), _creationTime: Number.MAX_SAFE_INTEGER, bought: false, ...item };
          localStore.setQuery(api.items.inList, args, value.concat([placeholder]));
        }
      }),
    [addMutation],
  );

  const setBoughtMutation = useMutation(api.items.setBought);
  const setBought = useMemo(
    () =>
      setBoughtMutation.withOptimisticUpdate((localStore, { itemId, bought }) => {
        for (const { args, value } of localStore.getAllQueries(api.items.inList)) {
          const index = value?.findIndex(({ _id }) => _id === itemId) ?? -1;
          const item = value?.[index];
          if (value && item) localStore.setQuery(api.items.inList, args, value.with(index, { ...item, bought }));
        }
      }),
    [setBoughtMutation],
  );

  const report = (change: Promise<unknown>) => {
    change.then(() => onOutcome(true)).catch(() => onOutcome(false));
  };

  return {
    items,
    add: (name: string) => report(add({ list, name })),
    toggle: (item: Doc<"items">) => report(setBought({ itemId: item._id, bought: !item.bought })),
  };
}
