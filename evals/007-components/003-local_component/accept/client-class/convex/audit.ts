import type { UserIdentity } from "convex/server";
import { components } from "./_generated/api";
import type { MutationCtx, QueryCtx } from "./_generated/server";

export class Audit {
  private constructor(readonly user: UserIdentity) {}

  static async of(ctx: QueryCtx | MutationCtx) {
    const user = await ctx.auth.getUserIdentity();
    if (!user) throw new Error("sign in first");
    return new Audit(user);
  }

  async record(ctx: MutationCtx, action: "write" | "remove", detail: string) {
    await ctx.runMutation(components.auditLog.log.append, { line: { actor: this.user.subject, action, detail } });
  }

  async recall(ctx: QueryCtx) {
    const lines: { action: string; detail: string }[] = await ctx.runQuery(components.auditLog.log.latest, { actor: this.user.subject });
    return lines.map(({ action, detail }) => ({ action, detail }));
  }
}
