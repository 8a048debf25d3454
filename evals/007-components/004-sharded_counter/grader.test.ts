import {
  addDocuments,
  anonymousClient,
  clearTables,
  expectComponentUsed,
  expectError,
  expectSameFunctions,
  expectSameSchema,
  listTable,
  ownFields,
  readSchema,
} from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";
import type { Id } from "./answer/convex/_generated/dataModel";

/** Together these are more than the 16 MiB that one function may read. */
const LONG_NAME = "u".repeat(1_000_000);
const LONG_NAMES = 18;

const visitor = anonymousClient();

/** The ids of new videos. */
async function videos(...titles: string[]): Promise<Id<"videos">[]> {
  await addDocuments("videos", titles.map((title) => ({ title })));
  return (await listTable("videos")).slice(-titles.length).map(({ _id }) => _id as Id<"videos">);
}

async function video(): Promise<Id<"videos">> {
  const [videoId] = await videos("Cats");
  if (videoId === undefined) throw new Error("The table `videos` must hold what was stored in it");
  return videoId;
}

function numbers(videoId: Id<"videos">) {
  return visitor.query(api.videos.numbers, { videoId });
}

function watched(videoId: Id<"videos">) {
  return visitor.mutation(api.videos.watched, { videoId });
}

function like(videoId: Id<"videos">, user: string) {
  return visitor.mutation(api.videos.like, { videoId, user });
}

function unlike(videoId: Id<"videos">, user: string) {
  return visitor.mutation(api.videos.unlike, { videoId, user });
}

/** Who likes what, ordered by name. */
async function likes() {
  const stored = (await listTable("likes")).map(ownFields);
  return stored.toSorted((a, b) => ((a["user"] as string) < (b["user"] as string) ? -1 : 1));
}

beforeEach(() => clearTables("likes", "videos"));

test("the tables are the ones of the task", async () => {
  await expectSameSchema({ indexes: "ignored" });
  const tables = (await readSchema())?.map(({ tableName }) => tableName);
  expect(tables?.toSorted(), "the schema must have the tables `videos` and `likes` and no others").toEqual(["likes", "videos"]);
});

test("the functions are public and have the arguments of the task", () => expectSameFunctions());

test("views and likes are counted by the component", async () => {
  const videoId = await video();
  await expectComponentUsed("@convex-dev/sharded-counter", "A view of a video", () => watched(videoId));
  await expectComponentUsed("@convex-dev/sharded-counter", "A like of a video", () => like(videoId, "ada"));
});

test("a new video has no views and no likes", async () => {
  expect(await numbers(await video()), "the numbers of a new video").toEqual({ views: 0, likes: 0 });
});

test("each view is counted exactly", async () => {
  const videoId = await video();
  expect(await watched(videoId), "`watched` must return null").toBe(null);
  expect(await numbers(videoId), "the numbers after one view").toEqual({ views: 1, likes: 0 });
  await watched(videoId);
  await watched(videoId);
  expect(await numbers(videoId), "the numbers after three views").toEqual({ views: 3, likes: 0 });
  expect(await numbers(videoId), "asking for the numbers must not count").toEqual({ views: 3, likes: 0 });
});

test("likes are stored and counted once for each user", async () => {
  const videoId = await video();
  expect(await like(videoId, "ada"), "a first `like` must return true").toBe(true);
  expect(await like(videoId, "bob"), "a `like` of another user must return true").toBe(true);
  expect(await like(videoId, "ada"), "a second `like` of the same user must return false").toBe(false);
  expect(await likes(), "`like` must store one document for each user who likes the video").toEqual([
    { videoId, user: "ada" },
    { videoId, user: "bob" },
  ]);
  expect(await numbers(videoId), "the numbers after two users liked the video, one of them twice").toEqual({ views: 0, likes: 2 });
});

test("unlike takes back a like, and only once", async () => {
  const videoId = await video();
  expect(await unlike(videoId, "ada"), "`unlike` of a video that the user does not like must return false").toBe(false);
  expect(await numbers(videoId), "an `unlike` without a like must not be counted").toEqual({ views: 0, likes: 0 });
  await like(videoId, "ada");
  await like(videoId, "bob");
  expect(await unlike(videoId, "ada"), "`unlike` of a video that the user likes must return true").toBe(true);
  expect(await unlike(videoId, "ada"), "a second `unlike` must return false").toBe(false);
  expect(await likes(), "`unlike` must delete the like of the user and no other").toEqual([{ videoId, user: "bob" }]);
  expect(await numbers(videoId), "the numbers after two likes, one of which was taken back").toEqual({ views: 0, likes: 1 });
  expect(await like(videoId, "ada"), "a user must be able to like the video again").toBe(true);
  expect(await numbers(videoId), "the numbers after the user liked the video again").toEqual({ views: 0, likes: 2 });
});

test("videos do not influence each other, nor views likes", async () => {
  const [cats, dogs] = await videos("Cats", "Dogs");
  if (cats === undefined || dogs === undefined) throw new Error("The table `videos` must hold what was stored in it");
  for (let times = 0; times < 3; times += 1) await watched(cats);
  await watched(dogs);
  await like(dogs, "ada");
  await like(dogs, "bob");
  await like(cats, "ada");
  expect(await numbers(cats), "the numbers of a video with three views and one like").toEqual({ views: 3, likes: 1 });
  expect(await numbers(dogs), "the numbers of a video with one view and two likes").toEqual({ views: 1, likes: 2 });
  await unlike(cats, "ada");
  expect(await numbers(dogs), "the numbers after a like of another video was taken back").toEqual({ views: 1, likes: 2 });
});

test("resetViews sets the views to 0 and leaves the rest alone", async () => {
  const [cats, dogs] = await videos("Cats", "Dogs");
  if (cats === undefined || dogs === undefined) throw new Error("The table `videos` must hold what was stored in it");
  for (let times = 0; times < 5; times += 1) await watched(cats);
  await watched(dogs);
  await like(cats, "ada");
  expect(await visitor.mutation(api.videos.resetViews, { videoId: cats }), "`resetViews` must return null").toBe(null);
  expect(await numbers(cats), "the numbers after `resetViews`").toEqual({ views: 0, likes: 1 });
  expect(await numbers(dogs), "the numbers of another video after `resetViews`").toEqual({ views: 1, likes: 0 });
  await watched(cats);
  expect(await numbers(cats), "the numbers after `resetViews` and one more view").toEqual({ views: 1, likes: 1 });
});

test("views and likes at the same time are all counted", async () => {
  const videoId = await video();
  const users = ["u0", "u1", "u2", "u3", "u4", "u5"];
  await Promise.all([...users.map(() => watched(videoId)), ...users.flatMap((user) => [like(videoId, user), like(videoId, user)])]);
  expect((await likes()).map(({ user }) => user as string), "each of six users who like at the same time must have one like").toEqual(users);
  expect(await numbers(videoId), "the numbers after six views and likes of six users, each of them twice, at the same time").toEqual({ views: 6, likes: 6 });
});

test("a video that does not exist any more has no numbers and cannot be watched or liked", async () => {
  const videoId = await video();
  await clearTables("videos");
  expect(await numbers(videoId), "the numbers of a video that does not exist any more").toBe(null);
  await expectError(watched(videoId), "`watched` of a video that does not exist any more must be refused", { by: "code" });
  await expectError(like(videoId, "ada"), "`like` of a video that does not exist any more must be refused", { by: "code" });
  expect(await likes(), "a `like` that is refused must not be stored").toEqual([]);
});

test("the likes of a video are not read to count them", async () => {
  const videoId = await video();
  const stored = Array.from({ length: LONG_NAMES }, (_, index) => ({ videoId, user: `${LONG_NAME}${index}` }));
  await addDocuments("likes", stored.slice(0, LONG_NAMES / 2));
  await addDocuments("likes", stored.slice(LONG_NAMES / 2));
  const why = "the documents of its likes are bigger than what one function may read";
  expect(await like(videoId, "ada"), `\`like\` must find out whether one user likes the video without reading all likes: ${why}`).toBe(true);
  expect(await numbers(videoId), `\`numbers\` must know what the component counted without reading the likes: ${why}`).toEqual({ views: 0, likes: 1 });
  expect(await unlike(videoId, "ada"), `\`unlike\` must find the like of one user without reading all likes: ${why}`).toBe(true);
});
