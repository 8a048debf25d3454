import type { Id } from "../_generated/dataModel";

export type Payment = { paid: true; paymentId: string } | { paid: false };

const NOTHING: Payment = { paid: false };

export function askForMoney(address: string, orderId: Id<"orders">, cents: number): Promise<Payment> {
  const request = new Request(address, { method: "POST", body: JSON.stringify({ cents, orderId }) });
  return fetch(request)
    .then(async (response): Promise<Payment> => {
      const text = await response.text();
      const answer: unknown = response.status === 200 ? JSON.parse(text) : null;
      if (typeof answer !== "object" || answer === null || !("paymentId" in answer)) return NOTHING;
      return typeof answer.paymentId === "string" ? { paid: true, paymentId: answer.paymentId } : NOTHING;
    })
    .catch(() => NOTHING);
}
