import { httpRouter } from "convex/server";
import { internal } from "./_generated/api";
import { httpAction } from "./_generated/server";

const router = httpRouter();

const receive = httpAction(async ({ runAction }, request) => {
  const [shop, signature] = ["x-shop", "x-signature"].map((name) => request.headers.get(name));
  if (!shop || !signature) return Response.json({ error: "unsigned" }, { status: 401 });
  const status = await runAction(internal.verify.handle, { shop, signature, body: await request.arrayBuffer() });
  return Response.json({ received: status === 200 }, { status });
});

router.route({ pathPrefix: "/webhooks/", method: "POST", handler: receive });

export default router;
