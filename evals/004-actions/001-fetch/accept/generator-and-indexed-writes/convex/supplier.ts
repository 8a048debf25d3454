/** What the supplier's service says, checked. */
export type Item = { sku: string; name: string; cents: number };

interface RawPage {
  products?: unknown;
  nextPage?: unknown;
}

export async function* pages(baseUrl: string, token: string): AsyncGenerator<Item[]> {
  for (let next: unknown = 1; typeof next === "number"; ) {
    const url = new URL(`${baseUrl}/products`);
    url.searchParams.set("page", `${next}`);
    const request = new Request(url, { method: "GET", headers: new Headers([["authorization", "Bearer " + token], ["accept", "application/json"]]) });
    const answer = await fetch(request);
    if (answer.status !== 200) {
      throw new Error(`${answer.status} ${answer.statusText}: ${await answer.text()}`);
    }
    const page = JSON.parse(await answer.text()) as RawPage;
    if (!Array.isArray(page.products)) throw new Error("no page");
    yield page.products.map(item);
    next = page.nextPage;
  }
}

function item(raw: Record<string, unknown>): Item {
  const { sku, name, cents } = raw;
  if (typeof sku !== "string" || typeof name !== "string" || typeof cents !== "number") throw new Error("no product");
  return { sku, name, cents };
}
