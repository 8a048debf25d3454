/// <reference types="vite/client" />
import type { ReactNode } from "react";
// example

declare function App(): ReactNode;
export { Authenticated, root, useAction, useMutation, useQuery };
