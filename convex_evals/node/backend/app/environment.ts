/** The variables of a deployment's environment. */

/** Where an app is served. */
export interface AppUrls {
  cloudUrl(): string;
  siteUrl(): string;
}

export class Environment {
  /** What functions see. One object for the life of the process: contexts hold on to it. */
  readonly values: Record<string, string>;
  #user: ReadonlyMap<string, string>;

  constructor(given: Iterable<readonly [string, string]>, urls: AppUrls) {
    this.#user = new Map(given);
    this.values = Object.fromEntries(this.#user);
    Object.defineProperties(this.values, {
      CONVEX_CLOUD_URL: { get: () => urls.cloudUrl(), enumerable: true },
      CONVEX_SITE_URL: { get: () => urls.siteUrl(), enumerable: true },
    });
  }

  /** Those that were set, without what every deployment has; another map after each change. */
  get user(): ReadonlyMap<string, string> {
    return this.#user;
  }

  /** Sets variables, or takes those away whose value is null. */
  change(changes: ReadonlyMap<string, string | null>): void {
    const before = this.#user;
    this.#user = changed(before, changes);
    for (const [name, value] of changes) {
      if (value === null && before.has(name)) delete this.values[name];
      else if (value !== null) this.values[name] = value;
    }
  }

  /** What functions would see after such changes. */
  valuesAfter(changes: ReadonlyMap<string, string | null>): Readonly<Record<string, string>> {
    const { CONVEX_CLOUD_URL, CONVEX_SITE_URL } = this.values as Record<"CONVEX_CLOUD_URL" | "CONVEX_SITE_URL", string>;
    return { ...Object.fromEntries(changed(this.#user, changes)), CONVEX_CLOUD_URL, CONVEX_SITE_URL };
  }
}

function changed(
  current: ReadonlyMap<string, string>,
  changes: ReadonlyMap<string, string | null>,
): ReadonlyMap<string, string> {
  const all = [...new Map<string, string | null>([...current, ...changes])];
  return new Map(all.filter((entry): entry is [string, string] => entry[1] !== null));
}
