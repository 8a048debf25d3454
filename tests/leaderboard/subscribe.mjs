// Subscribes to the leaderboard as a page does, over a WebSocket, and writes what it is told: a line for each update.
import { ConvexClient, ConvexHttpClient } from "convex/browser";
import { anyApi } from "convex/server";

const url = process.argv[2];
const http = new ConvexHttpClient(url, { logger: false });
const client = new ConvexClient(url, { logger: false });
client.onUpdate(anyApi.runs.leaderboardScores, {}, async (scores) => {
  const asked = await http.query(anyApi.runs.leaderboardScores, {});
  process.stdout.write(`${JSON.stringify({ told: scores.map((score) => score.model), asked: asked.length })}\n`);
});
