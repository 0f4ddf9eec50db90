import express from "express";
import request from "supertest";
import { expect, test } from "vitest";
import { KeptText, KeptTexts } from "../../shared/kept-text.ts";

const said = "Nobody asked for it twice. ".repeat(100);

function serving(text: KeptText) {
  const app = express();
  app.disable("etag");
  app.get("/", (asked, response) => text.send(asked, response, "text/plain"));
  return app;
}

test.for([
  ["br, gzip", "br"],
  ["gzip", "gzip"],
  ["identity", undefined],
])("who takes %s gets the text so, with a tag by which it is not sent again", async ([takes = "", encoding]) => {
  const app = serving(new KeptText(said));
  for (let time = 0; time < 2; time += 1) {
    const answer = await request(app).get("/").set("accept-encoding", takes);
    expect(answer.headers).toMatchObject({ "content-type": "text/plain; charset=utf-8", vary: "accept-encoding" });
    expect(answer.headers["content-encoding"]).toBe(encoding);
    expect(answer.text).toBe(said);
    const again = { "accept-encoding": takes, "if-none-match": String(answer.headers.etag) };
    expect((await request(app).get("/").set(again)).status).toBe(304);
  }
});

test("a text is made once, again when it is of something else, and again after it could not be made", async () => {
  const texts = new KeptTexts();
  let made = 0;
  const make = () => {
    made += 1;
    return `made ${made}`;
  };
  const [first, same] = await Promise.all([texts.read("a", make, "x"), texts.read("a", make, "x")]);
  expect(same).toBe(first);
  expect(await texts.read("b", make, "x")).not.toBe(first);
  const other = await texts.read("a", make, "y");
  expect(other).not.toBe(first);
  expect(made).toBe(3);
  const failing = () => Promise.reject(new Error("not now"));
  await expect(texts.read("a", failing, "z")).rejects.toThrow("not now");
  await texts.read("a", make, "z");
  expect(made).toBe(4);
});
