"use node";

import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { v } from "convex/values";
import { internalAction } from "./_generated/server";

interface Reply {
  status: number | undefined;
  text: string;
}

function post(url: string, body: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const start = url.startsWith("https:") ? httpsRequest : httpRequest;
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const request = start(url, { method: "POST", headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode, text }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}

export const charge = internalAction({
  args: { url: v.string(), orderId: v.id("orders"), cents: v.number() },
  returns: v.string(),
  handler: async (_ctx, { url, ...order }) => {
    const { status, text } = await post(url, JSON.stringify(order));
    if (status !== 200) throw new Error(`The service answered with status ${status}`);
    const { paymentId } = JSON.parse(text) as { paymentId?: unknown };
    if (typeof paymentId !== "string") throw new Error("There is no payment");
    return paymentId;
  },
});
