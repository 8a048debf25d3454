/** Values as the web's interfaces take texts. */

/** A text without lone surrogates; a symbol throws `TypeError`. https://webidl.spec.whatwg.org/#es-USVString */
export function usvString(value: unknown): string {
  return `${value as string}`.toWellFormed();
}
