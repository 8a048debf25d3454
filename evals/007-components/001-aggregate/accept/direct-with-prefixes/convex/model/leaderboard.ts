import { DirectAggregate } from "@convex-dev/aggregate";
import { components } from "../_generated/api";
import type { Doc } from "../_generated/dataModel";

/** Best scores come first: the keys are ordered by game, then by falling points. */
export const leaderboard = new DirectAggregate<{ Key: [string, number]; Id: string }>(components.leaderboard);

export const entry = ({ _id, game, points }: Pick<Doc<"scores">, "_id" | "game" | "points">) => ({
  id: _id as string,
  key: [game, -points] as [string, number],
  sumValue: points,
});

export const ofGame = (game: string) => ({ bounds: { prefix: [game] as [string] } });
