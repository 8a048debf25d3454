/** What HTTP actions return. */

/** The response, without what the app may have put over its own. Throws `TypeError` for what is none. */
export function copiedResponse(given: unknown): Response {
  const own = <T>(name: keyof Response): T => Reflect.get(Response.prototype, name, given) as T;
  const headers = [...new Headers(own<Headers>("headers"))];
  return new Response(own<ReadableStream | null>("body"), {
    status: own<number>("status"),
    statusText: own<string>("statusText"),
    headers,
  });
}
