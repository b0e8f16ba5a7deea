// Scrapes that come together: one page for those that wait, made after they came.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { Scrape } from "../../../../src/workers/server/metrics/scrape.js";
import { silentLog } from "../../../support/silent.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

const PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

test("of hundreds of scrapes that come together the first and all others have one page each", async () => {
  const registry = new ThreadRegistry("server");
  let pages = 0;
  const pagesMade = registry.gauge("pages_made", "Pages");
  registry.onSnapshot(() => pagesMade.set(++pages));
  const scrape = new Scrape(() => Promise.resolve([]), [registry], registry, new SteppedClock(), silentLog);
  const asked = Array.from({ length: 300 }, () => scrape.expose(undefined));
  const numbers = (await Promise.all(asked)).map(({ body }) => /^pages_made\S* (\d+)/m.exec(body.toString())?.[1]);
  assert.deepEqual([numbers[0], ...new Set(numbers.slice(1))], ["1", "2"]);
  await scrape.expose(undefined);
  assert.equal(pages, 3, "a later one gets figures of its own time");
});

test("clients of text and of protobuf share no page, and each has the content type that it asked for", async () => {
  const registry = new ThreadRegistry("server");
  const scrape = new Scrape(() => Promise.resolve([]), [registry], registry, new SteppedClock(), silentLog);
  const accepts = [undefined, PROTOBUF, "text/plain;version=0.0.4;escaping=dots", `${PROTOBUF};escaping=values`];
  const types = (await Promise.all(accepts.map((accept) => scrape.expose(accept)))).map((page) => page.contentType);
  assert.deepEqual(
    types.map((type) => type.split(";")[0]),
    ["text/plain", "application/vnd.google.protobuf", "text/plain", "application/vnd.google.protobuf"],
  );
  assert.deepEqual(
    types.map((type) => type.split("escaping=")[1]),
    ["underscores", "underscores", "dots", "values"],
  );
});
