import { httpRouter } from "convex/server";
import { ConvexError } from "convex/values";
import { internal } from "./_generated/api";
import { httpAction, type ActionCtx } from "./_generated/server";

const http = httpRouter();

http.route({ path: "/webhooks/payments", method: "POST", handler: httpAction(receive) });

export default http;

class Refusal extends Error {
  constructor(readonly status: number) {
    super(`Refused with ${status}`);
  }
}

async function receive(ctx: ActionCtx, request: Request): Promise<Response> {
  try {
    const bytes = new Uint8Array(await (await request.blob()).arrayBuffer());
    const shop = await authenticate(ctx, request.headers, bytes);
    const event = parse(new TextDecoder().decode(bytes));
    if (event.type === "payment.succeeded") {
      const { order, cents } = (event.data ?? {}) as Record<string, unknown>;
      if (typeof order !== "string" || typeof cents !== "number") throw new Refusal(400);
      await ctx.runMutation(internal.payments.storeOnce, { shop, eventId: event.id, order, cents });
    }
    return new Response("ok");
  } catch (error) {
    if (error instanceof Refusal) return new Response(error.message, { status: error.status });
    throw error instanceof ConvexError ? new Error("unexpected") : error;
  }
}

async function authenticate(ctx: ActionCtx, headers: Headers, body: BufferSource): Promise<string> {
  const shop = headers.get("x-shop") ?? "";
  const secret = await ctx.runQuery(internal.payments.secret, { shop });
  if (secret === undefined || secret === null) throw new Refusal(401);
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: { name: "SHA-256" } }, true, ["sign", "verify"]);
  const mac = new Uint8Array(await crypto.subtle.sign({ name: "HMAC" }, key, body));
  let expected = "sha256=";
  for (const byte of mac) expected += (byte < 16 ? "0" : "") + byte.toString(16);
  if (!sameText(expected, headers.get("x-signature") ?? "")) throw new Refusal(401);
  return shop;
}

function sameText(a: string, b: string): boolean {
  let differences = a.length ^ b.length;
  for (let i = 0; i < a.length; i++) differences |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return differences === 0;
}

function parse(text: string): { id: string; type: string; data?: unknown } {
  try {
    const { id, type, data } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id === "string" && typeof type === "string") return { id, type, data };
  } catch {
    // Not JSON, or null: refused below.
  }
  throw new Refusal(400);
}
