import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";
import { parseEvent } from "./events";
import { isSignatureValid } from "./signature";

const unauthorized = () => new Response("Unauthorized", { status: 401 });

const receivePayment = httpAction(async (ctx, request) => {
  const shop = request.headers.get("X-Shop");
  const signature = request.headers.get("X-Signature");
  if (shop === null || signature === null) {
    return unauthorized();
  }
  const secret = await ctx.runQuery(internal.shops.secretOf, { name: shop });
  if (secret === null) {
    return unauthorized();
  }

  const body = await request.text();
  if (!(await isSignatureValid(signature, secret, body))) {
    return unauthorized();
  }

  const event = parseEvent(body);
  if (event === null) {
    return new Response("Bad request", { status: 400 });
  }
  if (event.kind === "payment") {
    const { eventId, order, cents } = event;
    await ctx.runMutation(internal.payments.record, {
      shop,
      eventId,
      order,
      cents,
    });
  }
  return new Response("OK", { status: 200 });
});

const http = httpRouter();

http.route({
  path: "/webhooks/payments",
  method: "POST",
  handler: receivePayment,
});

export default http;
