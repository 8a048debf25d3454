import { v } from "convex/values";
import { internalMutation } from "../_generated/server";

export default internalMutation({
  args: v.object({ account: v.string(), entryCount: v.number(), fileId: v.id("_storage"), sha256: v.string() }),
  handler: (ctx, row) => ctx.db.insert("exports", row),
});
