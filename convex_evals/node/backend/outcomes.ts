/** What came of code of an app, and errors of it as others are told of them. */

/** An error as far as somebody else can be told of it. */
export interface DescribedError {
  readonly name?: string;
  readonly message: string;
  readonly stack?: string;
  /** Set by the host where the message is the whole text: `error_text.ts`. */
  readonly failure?: string;
  /** Of what is no error: how it reads. */
  readonly thrown?: string;
  /** Of a ConvexError: its data, as JSON text of a Convex value. */
  readonly convexData?: string;
  /** Of a failed syscall: the data as convex-test hands it on. */
  readonly data?: unknown;
}

export type Outcome = { readonly value: string } | { readonly error: DescribedError };

/** Of an HTTP action; without a response where there is none for the route. */
export type HttpOutcome = { readonly response: Response | null } | { readonly error: DescribedError };
