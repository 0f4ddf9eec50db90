import express from "express";

/** What Express alone costs: parses a body and sends it back. */
const app = express();
app.use(express.json());
app.post("/echo", (request, response) => void response.json(request.body));
app.get("/supported", (_request, response) => void response.json({}));
app.listen(Number(process.env.PEER_PORT), "127.0.0.1");
process.once("SIGTERM", () => process.exit(0));
