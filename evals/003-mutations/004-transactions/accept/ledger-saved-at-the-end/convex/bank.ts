import { ConvexError, v, type Infer } from "convex/values";
import { mutation, type MutationCtx } from "./_generated/server";
import { openLedger, type Move } from "./ledger";

const payment = v.object({
  from: v.id("accounts"),
  shares: v.array(v.object({ to: v.id("accounts"), cents: v.number() })),
});

function movesOf({ from, shares }: Infer<typeof payment>): Move[] {
  return shares.map(({ to, cents }) => ({ from, to, cents }));
}

async function moveAllOrThrow(ctx: MutationCtx, moves: Move[]): Promise<void> {
  const ledger = openLedger(ctx);
  const refusal = await ledger.attempt(moves);
  if (refusal !== null) {
    throw new ConvexError(refusal);
  }
  await ledger.save();
}

export const transfer = mutation({
  args: { from: v.id("accounts"), to: v.id("accounts"), cents: v.number() },
  returns: v.null(),
  handler: async (ctx, move) => {
    await moveAllOrThrow(ctx, [move]);
    return null;
  },
});

export const split = mutation({
  args: payment.fields,
  returns: v.null(),
  handler: async (ctx, args) => {
    await moveAllOrThrow(ctx, movesOf(args));
    return null;
  },
});

export const payroll = mutation({
  args: { payments: v.array(payment) },
  returns: v.array(v.boolean()),
  handler: async (ctx, { payments }) => {
    const ledger = openLedger(ctx);
    const made: boolean[] = [];
    for (const one of payments) {
      made.push((await ledger.attempt(movesOf(one))) === null);
    }
    await ledger.save();
    return made;
  },
});
