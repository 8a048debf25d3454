import type { PaginationOptions } from "convex/server";
import type { Doc } from "../_generated/dataModel";
import type { DatabaseReader } from "../_generated/server";

/** The readings of one station. */
export class Archive {
  private readonly db: DatabaseReader;
  private readonly station: string;

  constructor(db: DatabaseReader, station: string) {
    this.db = db;
    this.station = station;
  }

  between(from: number, to: number): Promise<Doc<"readings">[]> {
    if (to <= from) return Promise.resolve([]);
    return this.db
      .query("readings")
      .withIndex("byStation", (range) => range.eq("station", this.station).gte("at", from).lt("at", to))
      .collect();
  }

  newestFirst(options: PaginationOptions) {
    return this.db
      .query("readings")
      .withIndex("byStation", (range) => range.eq("station", this.station))
      .order("desc")
      .paginate(options);
  }
}
