import { httpAction } from "./_generated/server";

declare const secret: string;
declare const signatureBytes: Uint8Array<ArrayBuffer>;

export const receive = httpAction(async (_ctx, request) => {
  // example
  return new Response(null, { status: genuine ? 200 : 401 });
});
