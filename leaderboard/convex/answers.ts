/** Answers of HTTP actions. */

/** The answer to a request that is refused: `{"error": {"code", "message"}}`. */
export function refusal(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ error: { code, message } }, { status, headers });
}
