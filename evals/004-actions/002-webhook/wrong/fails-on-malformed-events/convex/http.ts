import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { isSignatureOf } from "./signature";

const http = httpRouter();

http.route({
  path: "/webhooks/payments",
  method: "POST",
  handler: httpAction(async (ctx, request) => {
    const shop = request.headers.get("X-Shop");
    const signature = request.headers.get("X-Signature");
    if (shop === null || signature === null) {
      return new Response("X-Shop and X-Signature are needed", { status: 401 });
    }
    // The signature is about these bytes: parsing comes afterwards.
    const body = await request.arrayBuffer();
    const secret = await ctx.runQuery(internal.payments.secretOf, { shop });
    if (secret === null || !(await isSignatureOf(body, signature, secret))) {
      return new Response("Wrong shop or signature", { status: 401 });
    }

    const event = parseEvent(new TextDecoder().decode(body));
    if (event === null) {
      return new Response("Malformed event", { status: 400 });
    }
    if (event.payment !== null) {
      await ctx.runMutation(internal.payments.record, { shop, eventId: event.id, ...event.payment });
    }
    return new Response(null, { status: 200 });
  }),
});

type PaymentEvent = {
  id: string;
  /** Null for events that are not about a payment that succeeded. */
  payment: { order: string; cents: number } | null;
};

function parseEvent(text: string): PaymentEvent | null {
  const event: unknown = JSON.parse(text);
  if (!isObject(event) || typeof event.id !== "string" || typeof event.type !== "string") {
    return null;
  }
  if (event.type !== "payment.succeeded") {
    return { id: event.id, payment: null };
  }
  const data = event.data;
  if (!isObject(data) || typeof data.order !== "string" || typeof data.cents !== "number") {
    return null;
  }
  return { id: event.id, payment: { order: data.order, cents: data.cents } };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

export default http;
