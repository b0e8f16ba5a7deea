// Many watches of one server: its absence is logged once, and once that all are watched again.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { ApiConnectionError, ApiError } from "../../../../../../src/shared/kubernetes/api/client/errors.js";
import { SharedOutage } from "../../../../../../src/shared/kubernetes/api/client/reflect/shared-outage.js";
import { keptLog } from "../client-kit.js";
import { bookmark, object, ScriptedApi } from "./scripted-api.js";

const AWAY = "Failed to watch objects of the API server; trying again connect ECONNREFUSED";
const AGAIN = "Watching all objects that pods refer to again";

const items = (version: string, name: string) => ({
  metadata: { resourceVersion: version },
  items: [object(name, "1")],
});

async function watching(count: number): Promise<{ apis: ScriptedApi[]; lines: string[] }> {
  const { log, lines } = keptLog();
  const outage = new SharedOutage(log);
  const apis = Array.from({ length: count }, () => new ScriptedApi({ streamsList: false, log, outage }));
  for (const api of apis) {
    api.answers = [items("5", "a")];
    api.reflector.start();
    await api.settle();
  }
  return { apis, lines };
}

const fail = async (api: ScriptedApi, error: Error): Promise<void> => {
  api.onWatch = (watch) => watch.end(error);
  api.watch.end(error);
  await api.step(10_000);
};
const mend = async (api: ScriptedApi): Promise<void> => {
  api.onWatch = () => undefined;
  await api.step(60_000);
  api.watch.send(bookmark("6"));
  await api.settle();
};

test("one log line when the server stops, one when all are watched again", async () => {
  const { apis, lines } = await watching(3);
  for (const api of apis) await fail(api, new ApiConnectionError("connect ECONNREFUSED"));
  deepEqual(lines, [AWAY]);
  const [first, second, third] = apis as [ScriptedApi, ScriptedApi, ScriptedApi];
  await mend(first);
  await mend(second);
  deepEqual(lines, [AWAY]);
  await third.reflector.stop();
  deepEqual(lines, [AWAY, AGAIN]);
  await fail(first, new ApiError(503, "ServiceUnavailable", "shutting down"));
  deepEqual(lines.slice(2), ["Failed to watch objects of the API server; trying again shutting down"]);
  await Promise.all(apis.map((api) => api.reflector.stop()));
});

test("a failure of one watch only is left to it", () => {
  const { log, lines } = keptLog();
  const outage = new SharedOutage(log);
  const watch = {};
  deepEqual(outage.failed(watch, new ApiError(403, "Forbidden", "no")), false);
  outage.over(watch);
  deepEqual(lines, []);
});
