import { addDocuments, anonymousClient, clearTables, expectError, expectFunctions, expectSameSchema, listTable, ownFields } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

const visitor = anonymousClient();
const MAX_BYTES = 100_000;

beforeEach(() => clearTables("photos"));

/** Uploads bytes in the way of a client, and returns the id of the file. */
async function upload(bytes: Uint8Array<ArrayBuffer>, contentType: string | null = "image/png"): Promise<Id<"_storage">> {
  const url = await visitor.mutation(api.photos.uploadUrl, {});
  expect(url, "`uploadUrl` must return a URL").toMatch(/^https?:/);
  const headers = contentType === null ? undefined : { "content-type": contentType };
  const response = await fetch(url, { method: "POST", body: bytes, ...(headers && { headers }) });
  expect(response.status, "a file must be accepted at the URL that `uploadUrl` returns").toBe(200);
  return ((await response.json()) as { storageId: Id<"_storage"> }).storageId;
}

function bytesOf(length: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length }, (_, index) => (index * 7) % 256);
}

/** Uploads a photo of this many bytes and records it. */
async function addPhoto(caption: string, size = 10, album = "summer") {
  const fileId = await upload(bytesOf(size));
  const photoId = await visitor.mutation(api.photos.record, { fileId, album, caption });
  if (photoId === null) throw new Error("`record` must return the id of the document that it inserts");
  return { fileId, photoId };
}

function listSummer() {
  return visitor.query(api.photos.list, { album: "summer" });
}

/** The id of a file that was there and is no more. */
async function deletedFile(): Promise<Id<"_storage">> {
  const fileId = await upload(bytesOf(3), "text/plain");
  const result = await visitor.mutation(api.photos.record, { fileId, album: "summer", caption: "text" });
  expect(result, "`record` must return null for a file that is not an image").toBe(null);
  return fileId;
}

async function captions(): Promise<unknown[]> {
  return (await listTable("photos")).map(({ caption }) => caption as unknown);
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("the four functions are public", async () => {
  const publicMutation = { type: "mutation", visibility: "public" } as const;
  await expectFunctions({
    "photos:uploadUrl": publicMutation,
    "photos:record": publicMutation,
    "photos:remove": publicMutation,
    "photos:list": { type: "query", visibility: "public" },
  });
});

test("an uploaded photo is recorded, listed and downloaded", async () => {
  const bytes = bytesOf(3000);
  const fileId = await upload(bytes, "image/webp");
  const photoId = await visitor.mutation(api.photos.record, { fileId, album: "summer", caption: "Sea" });
  const documents = await listTable("photos");
  expect(documents.map(({ _id }) => _id), "`record` must insert one document and return its id").toEqual([photoId]);
  expect(documents.map(ownFields), "the document must have the album, the caption and the id of the file").toEqual([{ album: "summer", caption: "Sea", fileId }]);

  const photos = await listSummer();
  const wanted = [{ _id: photoId, caption: "Sea", contentType: "image/webp", size: 3000, url: expect.any(String) as unknown }];
  expect(photos, "`list` must return `_id`, `caption`, `contentType`, `size` and `url` of each photo, and nothing else").toEqual(wanted);
  const response = await fetch(photos[0]?.url ?? "");
  expect(response.status, "the photo must be there for download at its `url`").toBe(200);
  expect(response.headers.get("content-type"), "the photo must be served with the content type of its upload").toBe("image/webp");
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes), "the served bytes must be those that were uploaded").toBe(true);
});

test("list returns the photos of one album, the newest first", async () => {
  await addPhoto("b", 11);
  await addPhoto("other", 12, "winter");
  await addPhoto("c", 13);
  await addPhoto("a", 14);
  const found = (await listSummer()).map(({ caption, size }) => [caption, size]);
  expect(found, "`list` must return the photos of the album with the sizes of their files, the newest first").toEqual([["a", 14], ["c", 13], ["b", 11]]);
  expect(await visitor.query(api.photos.list, { album: "spring" }), "`list` of an album without photos must return an empty list").toEqual([]);
});

test("files with the greatest size are photos, greater ones are not", async () => {
  const { photoId } = await addPhoto("largest", MAX_BYTES);
  expect((await listSummer()).map(({ _id }) => _id), "a photo of 100,000 bytes must be recorded").toEqual([photoId]);
  const fileId = await upload(bytesOf(MAX_BYTES + 1));
  const result = await visitor.mutation(api.photos.record, { fileId, album: "summer", caption: "too large" });
  expect(result, "`record` must return null for a file of 100,001 bytes").toBe(null);
  expect(await captions(), "`record` must insert nothing for a file that is too large").toEqual(["largest"]);
});

test.each(["text/plain", "application/x-image", "imagery/png", null])("a file with the content type %s is deleted, not recorded", async (contentType) => {
  const what = contentType === null ? "without content type" : `with the content type ${contentType}`;
  const fileId = await upload(bytesOf(5), contentType);
  const photo = { fileId, album: "summer", caption: "no photo" };
  expect(await visitor.mutation(api.photos.record, photo), `\`record\` must return null for a file ${what}`).toBe(null);
  expect(await captions(), `\`record\` must insert nothing for a file ${what}`).toEqual([]);
  await expectError(visitor.mutation(api.photos.record, photo), `\`record\` must delete a file ${what}, so recording it again must throw an error`);
});

test("a file that is too large is deleted", async () => {
  const photo = { fileId: await upload(bytesOf(MAX_BYTES + 1)), album: "summer", caption: "too large" };
  await visitor.mutation(api.photos.record, photo);
  await expectError(visitor.mutation(api.photos.record, photo), "`record` must delete a file that is too large, so recording it again must throw an error");
});

test("a file is recorded once", async () => {
  const { fileId, photoId } = await addPhoto("first");
  const again = visitor.mutation(api.photos.record, { fileId, album: "winter", caption: "second" });
  await expectError(again, "`record` of a file that has already been recorded must throw an error", { by: "code" });
  expect(await captions(), "a file that has already been recorded must not be recorded again").toEqual(["first"]);
  expect((await listSummer()).map(({ _id }) => _id), "the photo must still be there after its file was to be recorded again").toEqual([photoId]);
});

test("a file that is not there cannot be recorded", async () => {
  const fileId = await deletedFile();
  const call = visitor.mutation(api.photos.record, { fileId, album: "summer", caption: "gone" });
  await expectError(call, "`record` of a file that was deleted must throw an error");
  expect(await captions(), "`record` of a file that was deleted must insert nothing").toEqual([]);
});

test("ids of another table are no files", async () => {
  const { photoId } = await addPhoto("photo");
  const call = visitor.mutation(api.photos.record, { fileId: photoId as unknown as Id<"_storage">, album: "summer", caption: "no file" });
  await expectError(call, "`record` with the id of a photo as `fileId` must be refused", { by: "arguments" });
});

test("list leaves out photos whose file is gone", async () => {
  const fileId = await deletedFile();
  await addPhoto("before");
  await addDocuments("photos", [{ album: "summer", caption: "gone", fileId }]);
  await addPhoto("after");
  const found = (await listSummer()).map(({ caption }) => caption);
  expect(found, "`list` must leave out a photo whose file is not in the storage any more").toEqual(["after", "before"]);
});

test("remove deletes the photo and its file, and no other", async () => {
  await addPhoto("stays");
  const { photoId, fileId } = await addPhoto("goes");
  const urls = new Map((await listSummer()).map(({ caption, url }) => [caption, url]));
  expect(await visitor.mutation(api.photos.remove, { photoId }), "`remove` must return true").toBe(true);
  expect(await captions(), "`remove` must delete the document of the photo, and no other").toEqual(["stays"]);
  const statuses = await Promise.all(["goes", "stays"].map(async (caption) => (await fetch(urls.get(caption) ?? "")).status));
  expect(statuses[0], "after `remove` the file must not be served any more").toBe(404);
  expect(statuses[1], "`remove` must not delete the files of other photos").toBe(200);
  const again = visitor.mutation(api.photos.record, { fileId, album: "summer", caption: "again" });
  await expectError(again, "`remove` must delete the file, so recording it again must throw an error");
});

test("remove of a photo that is gone changes nothing and returns false", async () => {
  await addPhoto("stays");
  const { photoId } = await addPhoto("goes");
  await visitor.mutation(api.photos.remove, { photoId });
  expect(await visitor.mutation(api.photos.remove, { photoId }), "`remove` of a photo that is gone must return false").toBe(false);
  expect(await captions(), "`remove` of a photo that is gone must change nothing").toEqual(["stays"]);
});

test("remove of a photo whose file is gone deletes the photo", async () => {
  await addDocuments("photos", [{ album: "summer", caption: "gone", fileId: await deletedFile() }]);
  const [photo] = await listTable("photos");
  const removed = await visitor.mutation(api.photos.remove, { photoId: photo?._id as Id<"photos"> });
  expect(removed, "`remove` of a photo whose file is gone must return true").toBe(true);
  expect(await captions(), "`remove` must delete a photo whose file is gone").toEqual([]);
});
