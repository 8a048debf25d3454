import { DirectAggregate } from "@convex-dev/aggregate";
import { components } from "./_generated/api";
import type { Id } from "./_generated/dataModel";

/**
 * One tree for each game, sorted by points, which also adds up the points.
 * Every write to the table `scores` has to be repeated here.
 */
export const leaderboard = new DirectAggregate<{
  Namespace: string;
  Key: number;
  Id: Id<"scores">;
}>(components.aggregate);

/** What of a score document the leaderboard needs to know. */
type Scored = { _id: Id<"scores">; game: string; points: number };

/** Where a score stands in the leaderboard. */
export function place({ _id, game, points }: Scored) {
  return { namespace: game, key: points, id: _id };
}

/** The same, with what it adds to the total. */
export function entry(score: Scored) {
  return { ...place(score), sumValue: score.points };
}
