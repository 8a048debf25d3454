export type Charge = { orderId: string; cents: number };

function paymentIdOf(answer: unknown): string | null {
  if (typeof answer !== "object" || answer === null) {
    return null;
  }
  const { paymentId } = answer as { paymentId?: unknown };
  return typeof paymentId === "string" ? paymentId : null;
}

/**
 * Asks the payment service once and returns the id of the payment, or null if
 * the order is not paid for, for whatever reason.
 */
export async function requestPayment(
  paymentUrl: string,
  { orderId, cents }: Charge,
): Promise<string | null> {
  try {
    const response = await fetch(paymentUrl, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ orderId, cents }),
      // A redirect is an answer like any other: following it would ask twice.
      redirect: "manual",
    });
    if (response.status !== 200) {
      return null;
    }
    const answer: unknown = await response.json();
    return paymentIdOf(answer);
  } catch (error) {
    console.warn(`Payment of order ${orderId} failed`, error);
    return null;
  }
}
