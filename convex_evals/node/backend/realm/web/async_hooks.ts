/** The host's side of `isolate/web/async_hooks.ts`. */

import { AsyncLocalStorage } from "node:async_hooks";
import type { AsyncHost } from "../../isolate/types.ts";

export const ASYNC_HOST: AsyncHost = {
  openStorage: () => {
    const storage = new AsyncLocalStorage<unknown>();
    return {
      run: (store, call) => void storage.run(store, call),
      enterWith: (store) => storage.enterWith(store),
      disable: () => storage.disable(),
      getStore: () => storage.getStore(),
    };
  },
  snapshot: () => {
    const run = AsyncLocalStorage.snapshot();
    return (call) => void run(call);
  },
};
