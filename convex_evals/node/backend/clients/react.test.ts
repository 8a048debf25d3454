/** The hooks of `convex/react` in a browser-like page: https://docs.convex.dev/client/react */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Window } from "happy-dom";
import type { ReactNode } from "react";
import { api, eventually } from "../test/harness.ts";
import { deployApp } from "./test/app.ts";
import { identityProvider } from "./test/identity_provider.ts";

const window = new Window({ url: "http://localhost/" });
// React looks for these when it is loaded.
Object.assign(globalThis, { window, document: window.document });
const { Component, createElement, useCallback, useMemo, useState } = await import("react");
const { createRoot } = await import("react-dom/client");
const convex = await import("convex/react");

interface Post {
  readonly body: string;
}

interface Page {
  /** The text of the page. */
  text(): string;
  click(id: string): void;
}

/** Renders `app` in an element of its own until the test ends. */
function render(t: TestContext, app: ReactNode): Page {
  const element = window.document.createElement("div");
  window.document.body.appendChild(element);
  const root = createRoot(element as unknown as Element, { onCaughtError: () => {} });
  t.after(() => root.unmount());
  root.render(app);
  return {
    text: () => element.textContent,
    click: (id) => (element.querySelector(`#${id}`) as unknown as { click(): void }).click(),
  };
}

function reactClient(t: TestContext, url: string): InstanceType<typeof convex.ConvexReactClient> {
  const client = new convex.ConvexReactClient(url, { logger: false });
  t.after(() => client.close());
  return client;
}

class ErrorBoundary extends Component<{ children: ReactNode }, { message: string | null }> {
  override state = { message: null };
  static getDerivedStateFromError(error: Error): { message: string } {
    return { message: error.message };
  }
  override render(): ReactNode {
    return this.state.message ?? this.props.children;
  }
}

const button = (id: string, onClick: () => void): ReactNode => createElement("button", { id, onClick });

test("useQuery, useMutation with an optimistic update, skip, errors", async (t) => {
  const app = await deployApp(t, "chat");
  const { list, send } = api.messages;
  const client = reactClient(t, app.backend.url);
  const rendered: string[] = [];

  const Chat = (): ReactNode => {
    const [isOpen, setOpen] = useState(false);
    const messages = convex.useQuery(list, isOpen ? { room: "r" } : "skip") as Post[] | undefined;
    const say = convex.useMutation(send).withOptimisticUpdate((store, { body }) => {
      const shown = store.getQuery(list, { room: "r" }) as Post[] | undefined;
      if (shown) store.setQuery(list, { room: "r" }, [...shown, { body: `${String(body)}...` }]);
    });
    const text = messages === undefined ? "nothing" : `[${messages.map((message) => message.body).join(", ")}]`;
    if (rendered.at(-1) !== text) rendered.push(text);
    return [
      text,
      createElement(
        "i",
        { key: "buttons" },
        button("open", () => setOpen(true)),
        button("say", () => void say({ room: "r", author: "ada", body: "hi" })),
      ),
    ];
  };
  const page = render(t, createElement(convex.ConvexProvider, { client }, createElement(Chat)));
  await eventually(() => page.text() === "nothing");
  page.click("open");
  await eventually(() => page.text() === "[]");
  page.click("say");
  await eventually(() => page.text() === "[hi]");
  await app.http.mutation(send, { room: "r", author: "bob", body: "hello" });
  await eventually(() => page.text() === "[hi, hello]");
  assert.deepEqual(rendered, ["nothing", "[]", "[hi...]", "[hi]", "[hi, hello]"]);

  await t.test("an error of a query is thrown where it is used", async (tt) => {
    const Broken = (): ReactNode => String(convex.useQuery(list, { room: 7 }));
    const broken = render(
      tt,
      createElement(ErrorBoundary, null, createElement(convex.ConvexProvider, { client }, createElement(Broken))),
    );
    await eventually(() => broken.text().includes("ArgumentValidationError"));
  });
});

test("useAction", async (t) => {
  const app = await deployApp(t, "recipes");
  await app.http.mutation(api.foods.insert, { description: "taco", cuisine: "Mexican", embedding: [1, 0, 0] });
  const client = reactClient(t, app.backend.url);
  const Search = (): ReactNode => {
    const [text, setText] = useState("?");
    const search = convex.useAction(api.foods.similarFoods) as (args: object) => Promise<{ description: string }[]>;
    const run = async (): Promise<void> =>
      setText((await search({ vector: [1, 0, 0], cuisines: [], limit: 5 })).map((food) => food.description).join());
    return [
      text,
      createElement(
        "i",
        { key: "button" },
        button("search", () => void run()),
      ),
    ];
  };
  const page = render(t, createElement(convex.ConvexProvider, { client }, createElement(Search)));
  await eventually(() => page.text() === "?");
  page.click("search");
  await eventually(() => page.text() === "taco");
});

test("usePaginatedQuery reacts, loads more, and ends", async (t) => {
  const app = await deployApp(t, "feed");
  const { newest, write, remove } = api.posts;
  const ids: unknown[] = [];
  for (let post = 1; post <= 4; post++) ids.push(await app.http.mutation(write, { author: "a", body: String(post) }));
  const client = reactClient(t, app.backend.url);
  const Feed = (): ReactNode => {
    const { results, status, loadMore } = convex.usePaginatedQuery(newest, {}, { initialNumItems: 2 });
    return [
      `${(results as Post[]).map((post) => post.body).join(" ")} ${status}`,
      createElement(
        "i",
        { key: "button" },
        button("more", () => loadMore(2)),
      ),
    ];
  };
  const page = render(t, createElement(convex.ConvexProvider, { client }, createElement(Feed)));
  await eventually(() => page.text() === "4 3 CanLoadMore");
  await app.http.mutation(write, { author: "a", body: "5" });
  await eventually(() => page.text() === "5 4 3 CanLoadMore");
  page.click("more");
  await eventually(() => page.text() === "5 4 3 2 1 Exhausted" || page.text() === "5 4 3 2 1 CanLoadMore");
  await app.http.mutation(remove, { id: ids[2] });
  await eventually(() => page.text().startsWith("5 4 2 1"));
});

test("ConvexProviderWithAuth: what is shown depends on who is logged in", async (t) => {
  const provider = identityProvider();
  const app = await deployApp(t, "accounts", { env: { AUTH_JWKS: provider.jwks } });
  const client = reactClient(t, app.backend.url);
  let logIn: (name: string | null) => void = () => {};
  const useAuth = (): { isLoading: boolean; isAuthenticated: boolean; fetchAccessToken(): Promise<string | null> } => {
    const [name, setName] = useState<string | null>(null);
    logIn = setName;
    const fetchAccessToken = useCallback(
      async () => (name === null ? null : provider.token({ sub: name, name })),
      [name],
    );
    return useMemo(
      () => ({ isLoading: false, isAuthenticated: name !== null, fetchAccessToken }),
      [name, fetchAccessToken],
    );
  };
  const Inside = (): ReactNode => {
    const { isAuthenticated } = convex.useConvexAuth();
    const user = convex.useQuery(api.users.current, isAuthenticated ? {} : "skip") as
      | { stored: string | null }
      | null
      | undefined;
    const store = convex.useMutation(api.users.store);
    return [
      `in as ${user === undefined ? "..." : (user?.stored ?? "nobody")}`,
      createElement(
        "i",
        { key: "button" },
        button("store", () => void store({})),
      ),
    ];
  };
  const tree = [
    createElement(convex.AuthLoading, { key: "loading", children: "loading" }),
    createElement(convex.Unauthenticated, { key: "out", children: "out" }),
    createElement(convex.Authenticated, { key: "in", children: createElement(Inside) }),
  ];
  const page = render(t, createElement(convex.ConvexProviderWithAuth, { client, useAuth, children: tree }));
  await eventually(() => page.text() === "out");
  logIn("Ada");
  await eventually(() => page.text() === "in as nobody");
  page.click("store");
  await eventually(() => page.text() === "in as Ada");
  logIn(null);
  await eventually(() => page.text() === "out");
});
