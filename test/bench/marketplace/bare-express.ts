import express from "express";

/** One route that answers what GET /api/v1/balance does, and nothing else. */
const app = express();
app.get("/api/v1/balance", (_request, response) => {
  response.json({
    credits: 1000,
    held_credits: 0,
    earned_credits: 0,
    account: { handle: "buyer" },
    key: {
      name: "bench",
      start: "amk_0000",
      scope: "own_agents",
      rate_limit_per_minute: 100000,
      max_credits_per_day: null,
    },
  });
});
app.get("/health", (_request, response) => void response.json({ status: "ok" }));
app.listen(Number(process.env.PEER_PORT), "127.0.0.1");
process.once("SIGTERM", () => process.exit(0));
