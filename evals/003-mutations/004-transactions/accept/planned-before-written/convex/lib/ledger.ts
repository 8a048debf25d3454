import type { Id } from "../_generated/dataModel";
import type { MutationCtx } from "../_generated/server";

type AccountId = Id<"accounts">;
export type Share = { to: AccountId; cents: number };

const REFUSED = Symbol("refused");

/** The balances after a payment, or that it is refused. Nothing is written. */
async function plan({ db }: MutationCtx, from: AccountId, shares: Share[]): Promise<Map<AccountId, number> | typeof REFUSED> {
  const balances = new Map<AccountId, number>();
  for (const id of new Set([from, ...shares.map((share) => share.to)])) {
    const account = await db.get("accounts", id);
    if (account !== null) balances.set(id, account.cents);
  }
  for (const { to, cents } of shares) {
    const [left, had] = [balances.get(from), balances.get(to)];
    if (left === undefined || had === undefined || from === to || left < cents) return REFUSED;
    if (!Number.isSafeInteger(cents) || cents <= 0) return REFUSED;
    balances.set(from, left - cents).set(to, had + cents);
  }
  return balances;
}

/** Makes a payment as a whole; returns whether it could be made. */
export async function pay(ctx: MutationCtx, from: AccountId, shares: Share[]): Promise<boolean> {
  const balances = await plan(ctx, from, shares);
  if (balances === REFUSED) return false;
  await Promise.all([...balances].map(([id, cents]) => ctx.db.patch("accounts", id, { cents })));
  const entries = shares.flatMap(({ to, cents }) => [{ accountId: to, cents }, { accountId: from, cents: -cents }]);
  await Promise.all(entries.map((entry) => ctx.db.insert("entries", entry)));
  return true;
}
