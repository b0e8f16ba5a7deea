// When the page's data are old: a kubelet that is stopped keeps its connections.

import assert from "node:assert/strict";
import { test } from "node:test";
import { freshnessOf, type Connection } from "../../src/page/freshness.js";

const NOW = 1_000_000;
const heard = (connection: Connection, secondsAgo?: number) => ({
  connection,
  heardAt: secondsAgo === undefined ? undefined : NOW - secondsAgo * 1000,
});

test("data are old after ten seconds of silence, though the connection is open", () => {
  assert.deepEqual(freshnessOf([heard("live", 9)], NOW), { state: "live", stale: false, heardAt: NOW - 9000 });
  assert.deepEqual(freshnessOf([heard("live", 11)], NOW), { state: "silent", stale: true, heardAt: NOW - 11_000 });
});

test("a lost connection may come back for five seconds", () => {
  assert.equal(freshnessOf([heard("lost", 4)], NOW).stale, false);
  assert.equal(freshnessOf([heard("lost", 6)], NOW).stale, true);
  assert.equal(freshnessOf([heard("lost", 6)], NOW).state, "lost");
});

test("a page that has heard nothing yet has no old data", () => {
  assert.deepEqual(freshnessOf([heard("connecting")], NOW), { state: "connecting", stale: false, heardAt: undefined });
});

test("a page that was hidden shows old data until the first message", () => {
  assert.equal(freshnessOf([heard("connecting", 60)], NOW).stale, true);
});

test("of two streams the one with older data counts", () => {
  assert.equal(freshnessOf([heard("live", 1), heard("live", 20)], NOW).state, "silent");
  assert.equal(freshnessOf([heard("live", 20), heard("connecting")], NOW).stale, true);
  assert.equal(freshnessOf([heard("live", 1), heard("connecting")], NOW).stale, false);
});

test("a clock that was set back makes no old data", () => {
  assert.equal(freshnessOf([heard("live", -3600)], NOW).stale, false);
});
