import { httpAction } from "./_generated/server";

declare const secretBytes: Uint8Array<ArrayBuffer>;
declare const signatureBytes: Uint8Array<ArrayBuffer>;

export const receive = httpAction(async (_ctx, request) => {
  // example
  return new Response(null, { status: genuine ? 200 : 401 });
});
