import { anonymousClient, clearTables, expectComponentUsed, expectSameFunctions, expectSameSchema, listTable, ownFields } from "convex-evals/grader";
import { beforeEach, expect, test } from "vitest";
import { api } from "./answer/convex/_generated/api";

/** Together these are more than the 16 MiB that one function may read. */
const LONG_REPLAY = "r".repeat(895_000);
const LONG_REPLAYS = 19;

const visitor = anonymousClient();

beforeEach(() => clearTables("scores"));

// What the component has counted outlives the table's documents, so each test has games and players of its own.
function submit(game: string, player: string, points: number, replay = "short") {
  return visitor.mutation(api.scores.submit, { game, player, points, replay });
}

async function storedScores(game: string) {
  const scores = (await listTable("scores")).filter((score) => score["game"] === game).map(ownFields);
  return scores.sort((a, b) => ((a["player"] as string) < (b["player"] as string) ? -1 : 1));
}

function stats(game: string) {
  return visitor.query(api.scores.stats, { game });
}

function ranks(game: string, ...players: string[]) {
  return Promise.all(players.map((player) => visitor.query(api.scores.rank, { game, player })));
}

test("the table accepts the documents of the task", () => expectSameSchema({ indexes: "ignored" }));

test("the functions are public and have the arguments of the task", () => expectSameFunctions());

test("the scores are counted by the component", () =>
  expectComponentUsed("@convex-dev/aggregate", "A first score", () => submit("asteroids", "asteroids-ada", 10)));

test("a game without scores has empty stats and no ranks", async () => {
  expect(await stats("nobody plays this"), "`stats` of a game without scores").toEqual({ players: 0, total: 0, best: null });
  expect(await ranks("nobody plays this", "nobody"), "`rank` must be null for a player without a score").toEqual([null]);
});

test("first scores are stored, counted, summed and ranked", async () => {
  expect(await submit("snake", "snake-ada", 30, "ada's"), "`submit` of a first score must return true").toBe(true);
  expect(await stats("snake"), "`stats` after one score of 30 points").toEqual({ players: 1, total: 30, best: 30 });
  await submit("snake", "snake-bob", 50, "bob's");
  await submit("snake", "snake-cyd", 10, "cyd's");
  expect(await storedScores("snake"), "`submit` must store the scores with their replays").toEqual([
    { game: "snake", player: "snake-ada", points: 30, replay: "ada's" },
    { game: "snake", player: "snake-bob", points: 50, replay: "bob's" },
    { game: "snake", player: "snake-cyd", points: 10, replay: "cyd's" },
  ]);
  expect(await stats("snake"), "`stats` after scores of 30, 50 and 10 points").toEqual({ players: 3, total: 90, best: 50 });
  expect(await ranks("snake", "snake-ada", "snake-bob", "snake-cyd"), "the ranks of 30, 50 and 10 points").toEqual([2, 1, 3]);
});

test("players with equal points share a rank", async () => {
  for (const [index, points] of [20, 40, 20, 10, 40, 5].entries()) await submit("pong", `pong-${index}`, points);
  expect(
    await ranks("pong", "pong-0", "pong-1", "pong-2", "pong-3", "pong-4", "pong-5"),
    "the ranks of 20, 40, 20, 10, 40 and 5 points: 1 plus the number of players who have more",
  ).toEqual([3, 1, 3, 5, 1, 6]);
  expect(await stats("pong"), "`stats` must count and sum players with equal points each for themselves").toEqual({ players: 6, total: 135, best: 40 });
});

test("no points and negative points are points too", async () => {
  for (const [index, points] of [-20, 0, -5].entries()) await submit("golf", `golf-${index}`, points);
  expect(await stats("golf"), "`stats` of scores of -20, 0 and -5 points").toEqual({ players: 3, total: -25, best: 0 });
  expect(await ranks("golf", "golf-0", "golf-1", "golf-2"), "the ranks of -20, 0 and -5 points").toEqual([3, 1, 2]);
});

test("a better score takes the place of the old one", async () => {
  await submit("tetris", "tetris-ada", 100);
  await submit("tetris", "tetris-bob", 200);
  expect(await submit("tetris", "tetris-ada", 300, "the better game"), "`submit` of a better score must return true").toBe(true);
  expect(await storedScores("tetris"), "a better score must replace points and replay of the player's old one").toEqual([
    { game: "tetris", player: "tetris-ada", points: 300, replay: "the better game" },
    { game: "tetris", player: "tetris-bob", points: 200, replay: "short" },
  ]);
  expect(await stats("tetris"), "`stats` after 100 points became 300 beside a score of 200").toEqual({ players: 2, total: 500, best: 300 });
  expect(await ranks("tetris", "tetris-ada", "tetris-bob"), "the ranks after 100 points became 300 beside a score of 200").toEqual([1, 2]);
  await submit("tetris", "tetris-ada", 400);
  expect(await stats("tetris"), "`stats` after 300 points became 400 beside a score of 200").toEqual({ players: 2, total: 600, best: 400 });
});

test("a score that is not better changes nothing", async () => {
  await submit("chess", "chess-ada", 70, "the best game");
  await submit("chess", "chess-bob", 60);
  const before = await storedScores("chess");
  for (const points of [70, 69, -1]) {
    expect(await submit("chess", "chess-ada", points, "another game"), `\`submit\` of ${points} points after 70 must return false`).toBe(false);
  }
  expect(await storedScores("chess"), "a score that is not better must not be stored").toEqual(before);
  expect(await stats("chess"), "a score that is not better must not be counted").toEqual({ players: 2, total: 130, best: 70 });
  expect(await ranks("chess", "chess-ada", "chess-bob"), "a score that is not better must not change ranks").toEqual([1, 2]);
});

test("games do not influence each other", async () => {
  for (const [index, points] of [500, 600, 700].entries()) await submit("pinball", `pinball-${index}`, points);
  await submit("darts", "pinball-0", 20);
  await submit("darts", "darts-0", 30);
  expect(await stats("darts"), "`stats` must know the scores of its game alone").toEqual({ players: 2, total: 50, best: 30 });
  expect(await stats("pinball"), "`stats` must know the scores of its game alone").toEqual({ players: 3, total: 1800, best: 700 });
  expect(await ranks("darts", "pinball-0", "darts-0", "pinball-1"), "`rank` must compare scores of one game alone").toEqual([2, 1, null]);
  expect(await ranks("pinball", "pinball-0", "pinball-2"), "`rank` must compare scores of one game alone").toEqual([3, 1]);
});

test("removePlayer takes the player out of all games", async () => {
  await submit("races", "leaver", 90);
  await submit("races", "stayer", 80);
  await submit("races", "third", 70);
  await submit("jumps", "leaver", 15);
  await submit("jumps", "stayer", 25);
  await submit("flips", "leaver", 5);
  expect(await visitor.mutation(api.scores.removePlayer, { player: "leaver" }), "`removePlayer` of a player with three scores must return 3").toBe(3);
  const left = [...(await storedScores("races")), ...(await storedScores("jumps")), ...(await storedScores("flips"))];
  expect(left.map(({ game, player }) => [game, player] as unknown), "`removePlayer` must delete all scores of the player and no others").toEqual([
    ["races", "stayer"],
    ["races", "third"],
    ["jumps", "stayer"],
  ]);
  const all = [await stats("races"), await stats("jumps"), await stats("flips")];
  expect(all, "`stats` after the player who is removed").toEqual([
    { players: 2, total: 150, best: 80 },
    { players: 1, total: 25, best: 25 },
    { players: 0, total: 0, best: null },
  ]);
  expect(await ranks("races", "leaver", "stayer", "third"), "players who were behind a removed one must move up").toEqual([null, 1, 2]);
});

test("removePlayer of an unknown player returns 0, and a removed player may come back", async () => {
  expect(await visitor.mutation(api.scores.removePlayer, { player: "stranger" }), "`removePlayer` of an unknown player must return 0").toBe(0);
  await submit("cards", "returner", 60);
  await visitor.mutation(api.scores.removePlayer, { player: "returner" });
  expect(await submit("cards", "returner", 40), "the first score after `removePlayer` must be stored, even if the old one was better").toBe(true);
  expect(await visitor.mutation(api.scores.removePlayer, { player: "returner" }), "the second `removePlayer` must return 1").toBe(1);
  expect(await submit("cards", "returner", 40), "the same score must be stored again after `removePlayer`").toBe(true);
  expect(await stats("cards"), "`stats` after a player was removed and came back with 40 points").toEqual({ players: 1, total: 40, best: 40 });
});

test("scores that are submitted at the same time are all counted, and one for each player", async () => {
  const players = ["rush-0", "rush-1", "rush-2"];
  await Promise.all(players.flatMap((player, index) => [1, 2, 3].map((times) => submit("rush", player, times * 10 + index))));
  expect((await storedScores("rush")).map(({ player, points }) => [player, points] as unknown), "each player must have one score, the best").toEqual([
    ["rush-0", 30],
    ["rush-1", 31],
    ["rush-2", 32],
  ]);
  expect(await stats("rush"), "`stats` after three players submitted three scores each at the same time").toEqual({ players: 3, total: 93, best: 32 });
  expect(await ranks("rush", ...players), "the ranks after three players submitted three scores each at the same time").toEqual([3, 2, 1]);
});

test("stats and ranks do not need the documents of all players", async () => {
  for (let index = 0; index < LONG_REPLAYS; index += 1) await submit("marathon", `marathon-${index}`, index, LONG_REPLAY);
  const why = "its documents are bigger than what one function may read";
  expect(await stats("marathon"), `\`stats\` must know a game without reading all its scores: ${why}`).toEqual({
    players: LONG_REPLAYS,
    total: (LONG_REPLAYS * (LONG_REPLAYS - 1)) / 2,
    best: LONG_REPLAYS - 1,
  });
  expect(await ranks("marathon", "marathon-0"), `\`rank\` must know the last place without reading all scores: ${why}`).toEqual([LONG_REPLAYS]);
  expect(await submit("marathon", "marathon-0", 100), `\`submit\` must work without reading all scores: ${why}`).toBe(true);
  expect(await ranks("marathon", "marathon-0", "marathon-18"), "the ranks after the last became the first").toEqual([1, 2]);
  expect(await visitor.mutation(api.scores.removePlayer, { player: "marathon-1" }), `\`removePlayer\` must work without reading all scores: ${why}`).toBe(1);
});
