export type Product = { sku: string; name: string; cents: number };

type Page = { products: Product[]; nextPage: number | null };

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function parseProduct(value: unknown): Product {
  if (
    !isRecord(value) ||
    typeof value.sku !== "string" ||
    typeof value.name !== "string" ||
    typeof value.cents !== "number"
  ) {
    throw new Error("The supplier sent a malformed product");
  }
  // Pick the fields we know: the supplier may send others.
  return { sku: value.sku, name: value.name, cents: value.cents };
}

function parsePage(value: unknown): Page {
  if (!isRecord(value) || !Array.isArray(value.products)) {
    throw new Error("The supplier sent a malformed page");
  }
  const { nextPage } = value;
  if (nextPage !== null && typeof nextPage !== "number") {
    throw new Error("The supplier sent a malformed page number");
  }
  return { products: value.products.map(parseProduct), nextPage };
}

async function fetchPage(
  baseUrl: string,
  token: string,
  page: number,
): Promise<Page> {
  const response = await fetch(`${baseUrl}/products?page=${page}`, {
    method: "GET",
    headers: { Authorization: `Bearer ${token}` },
  });
  if (response.status !== 200) {
    throw new Error(`Page ${page}: the supplier answered ${response.status}`);
  }
  const body: unknown = await response.json();
  return parsePage(body);
}

/** Reads the whole price list, page after page; throws if any page fails. */
export async function fetchPriceList(
  baseUrl: string,
  token: string,
): Promise<Product[]> {
  const products: Product[] = [];
  let next: number | null = 1;
  while (next !== null) {
    const page: Page = await fetchPage(baseUrl, token, next);
    products.push(...page.products);
    next = page.nextPage;
  }
  return products;
}
