import { expect, test } from "vitest";
import { serviceNodeOptions } from "../../infra/dev/program.ts";
import { imageEnv } from "../support/image-env.ts";

test("a service on this machine has the memory that it has in the image", () => {
  expect(imageEnv().NODE_OPTIONS).toBe(serviceNodeOptions);
});
