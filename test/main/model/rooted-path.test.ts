import assert from "node:assert/strict";
import { test } from "node:test";
import { messageMountPath, rootedPath } from "../../../src/main/model/rooted-path.js";

test("a path without its leading slash is below the root, and any other stays as it is written", () => {
  const paths = { data: "/data", "a/../b/": "/b/", "/data/": "/data/", "//x": "//x", "/a/../b": "/a/../b" };
  for (const [written, expected] of Object.entries(paths)) assert.equal(rootedPath(written), expected, written);
});

test("the file of a termination message has no slash at its end", () => {
  const paths = { msg: "/msg", "a/../b": "/b", "/dev/log/": "/dev/log", "//x": "/x" };
  for (const [written, expected] of Object.entries(paths)) assert.equal(messageMountPath(written), expected, written);
});
