import type { Id } from "./_generated/dataModel";
import type { MutationCtx } from "./_generated/server";

type AccountId = Id<"accounts">;

export type Move = { from: AccountId; to: AccountId; cents: number };

/**
 * Makes moves in memory first, group by group, and writes at the end what has
 * been accepted. A group that is refused leaves no trace.
 */
export function openLedger(ctx: MutationCtx) {
  /** What the accounts hold after the accepted moves; null: no such account. */
  const balances = new Map<AccountId, number | null>();
  const accepted: Move[] = [];

  async function balanceOf(id: AccountId): Promise<number | null> {
    const known = balances.get(id);
    if (known !== undefined) {
      return known;
    }
    const account = await ctx.db.get("accounts", id);
    const cents = account === null ? null : account.cents;
    balances.set(id, cents);
    return cents;
  }

  /** Accepts all the moves, or none: then it returns why. */
  async function attempt(moves: Move[]): Promise<string | null> {
    const draft = new Map<AccountId, number>();
    for (const { from, to, cents } of moves) {
      if (!Number.isInteger(cents) || cents < 1) {
        return "The amount must be a whole number of at least 1";
      }
      if (from === to) {
        return "The accounts must be different";
      }
      const source = draft.get(from) ?? (await balanceOf(from));
      const target = draft.get(to) ?? (await balanceOf(to));
      if (source === null || target === null) {
        return "The account does not exist";
      }
      if (source < cents) {
        return "The account has less than the amount";
      }
      draft.set(from, source - cents);
      draft.set(to, target + cents);
    }

    for (const [id, cents] of draft) {
      balances.set(id, cents);
    }
    accepted.push(...moves);
    return null;
  }

  async function save(): Promise<void> {
    const touched = new Set<AccountId>();
    for (const { from, to, cents } of accepted) {
      touched.add(from).add(to);
      await ctx.db.insert("entries", { accountId: from, cents: -cents });
      await ctx.db.insert("entries", { accountId: to, cents });
    }
    for (const id of touched) {
      const cents = balances.get(id);
      if (cents !== undefined && cents !== null) {
        await ctx.db.patch("accounts", id, { cents });
      }
    }
  }

  return { attempt, save };
}
