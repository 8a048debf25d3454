import { ConvexError } from "convex/values";

const required = { url: "MAIL_URL", key: "MAIL_API_KEY", to: "MAIL_TO" };

function lookUp(name: string): string | null {
  return process.env[name] || null;
}

export function missingVariables(): string[] {
  return Object.values(required).filter((name) => lookUp(name) === null);
}

/** The settings of the mail provider; throws if one of them is missing. */
export function requireMail() {
  const missing = missingVariables();
  if (missing.length !== 0) throw new ConvexError({ code: "not_configured", missing });
  const value = (name: string) => lookUp(name) ?? "";
  return { url: value(required.url), key: value(required.key), to: value(required.to) };
}

export function greatestLength(): number {
  const text = lookUp("MAX_LENGTH") ?? "500";
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || [...text].some((character) => !"0123456789".includes(character))) {
    throw new ConvexError({ code: "bad_configuration", variable: "MAX_LENGTH" });
  }
  return number;
}
