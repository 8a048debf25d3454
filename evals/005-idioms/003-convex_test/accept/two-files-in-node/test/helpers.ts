/// <reference types="vite/client" />
import { convexTest } from "convex-test";
import schema from "../convex/schema";

export const ISSUER = "https://id.example.org";
export const tokenOf = (name: string) => `${ISSUER}|${name}`;

/** An empty backend. */
export const backend = () => convexTest(schema, import.meta.glob("../convex/**/*.*s"));
export type Backend = ReturnType<typeof backend>;

export const as = (t: Backend, name: string) => t.withIdentity({ issuer: ISSUER, subject: name });

export function seed(t: Backend, user: string, from: number, to: number, room = "R1") {
  return t.run((ctx) => ctx.db.insert("reservations", { room, from, to, user: tokenOf(user), confirmed: false }));
}
