import { TableAggregate } from "@convex-dev/aggregate";
import { customCtx, customMutation } from "convex-helpers/server/customFunctions";
import { Triggers } from "convex-helpers/server/triggers";
import { components } from "./_generated/api";
import type { DataModel } from "./_generated/dataModel";
import { mutation as rawMutation } from "./_generated/server";

type Scores<Key extends number | null> = { Namespace: string; Key: Key; DataModel: DataModel; TableName: "scores" };

export const places = new TableAggregate<Scores<number>>(components.places, {
  namespace: (doc) => doc.game,
  sortKey: (doc) => doc.points,
});

export const totals = new TableAggregate<Scores<null>>(components.totals, {
  namespace: (doc) => doc.game,
  sortKey: () => null,
  sumValue: (doc) => doc.points,
});

const triggers = new Triggers<DataModel>();
triggers.register("scores", places.trigger());
triggers.register("scores", totals.idempotentTrigger());

export const mutation = customMutation(rawMutation, customCtx(triggers.wrapDB));
