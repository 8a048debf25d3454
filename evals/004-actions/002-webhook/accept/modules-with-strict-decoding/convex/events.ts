export type PaymentEvent =
  | { kind: "payment"; eventId: string; order: string; cents: number }
  | { kind: "other" };

type JsonObject = { [key: string]: unknown };

function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parseJson(body: ArrayBuffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return undefined;
  }
}

/** The event in the body, or null if the body does not hold a proper one. */
export function parseEvent(body: ArrayBuffer): PaymentEvent | null {
  const event = parseJson(body);
  if (
    !isJsonObject(event) ||
    typeof event.id !== "string" ||
    typeof event.type !== "string"
  ) {
    return null;
  }
  if (event.type !== "payment.succeeded") {
    return { kind: "other" };
  }

  const { data } = event;
  if (
    !isJsonObject(data) ||
    typeof data.order !== "string" ||
    typeof data.cents !== "number"
  ) {
    return null;
  }
  return {
    kind: "payment",
    eventId: event.id,
    order: data.order,
    cents: data.cents,
  };
}
