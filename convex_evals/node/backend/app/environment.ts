/** The variables of a deployment's environment. */

/** Where an app is served. */
export interface AppUrls {
  cloudUrl(): string;
  siteUrl(): string;
}

export class Environment {
  /** What functions see. One object for the life of the process: contexts hold on to it. */
  readonly values: Record<string, string>;
  readonly #user: Map<string, string>;

  constructor(given: Iterable<readonly [string, string]>, urls: AppUrls) {
    this.#user = new Map(given);
    this.values = Object.fromEntries(this.#user);
    Object.defineProperties(this.values, {
      CONVEX_CLOUD_URL: { get: () => urls.cloudUrl(), enumerable: true },
      CONVEX_SITE_URL: { get: () => urls.siteUrl(), enumerable: true },
    });
  }

  /** Those that were set, without what every deployment has. */
  get user(): ReadonlyMap<string, string> {
    return this.#user;
  }

  /** Sets variables, or takes those away whose value is null. */
  change(changes: ReadonlyMap<string, string | null>): void {
    for (const [name, value] of changes) {
      if (value === null) {
        this.#user.delete(name);
        delete this.values[name];
      } else {
        this.#user.set(name, value);
        this.values[name] = value;
      }
    }
  }
}
