import { expect, it } from "vitest";
import { api } from "../convex/_generated/api";
import { as, backend, seed } from "./helpers";

const cases: [from: number, to: number, free: boolean][] = [
  [100, 200, false],
  [50, 101, false],
  [199, 300, false],
  [120, 180, false],
  [1, 999, false],
  [50, 100, true],
  [200, 201, true],
  [60, 60, false],
  [70, 60, false],
];

for (const [from, to, free] of cases) {
  it(`${free ? "accepts" : "refuses"} ${from} to ${to}`, async () => {
    const t = backend();
    await seed(t, "other", 100, 200);
    const attempt = as(t, "me").mutation(api.reservations.create, { room: "R1", from, to });
    if (free) await expect(attempt).resolves.toBeTypeOf("string");
    else await expect(attempt).rejects.toBeInstanceOf(Error);
  });
}

it("does not look at other rooms", async () => {
  const t = backend();
  await seed(t, "me", 100, 200, "R2");
  await expect(as(t, "me").mutation(api.reservations.create, { room: "R1", from: 100, to: 200 })).resolves.toBeDefined();
});
