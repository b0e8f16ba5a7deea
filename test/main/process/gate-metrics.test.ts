import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { GATES } from "../../../src/main/command/gates/table.js";
import { watchGates } from "../../../src/main/process/gate-metrics.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { renderExposition } from "../../../src/workers/server/metrics/merge-metrics.js";

const shown = async (registry: ThreadRegistry): Promise<string[]> =>
  renderExposition([await registry.exportSnapshot()]).split("\n");

test("every feature gate is shown with its stage when metrics are requested", async () => {
  const registry = new ThreadRegistry("main");
  const asked: string[] = [];
  watchGates(registry, (gate) => asked.push(gate) > 0 && gate !== "AllAlpha");
  equal(asked.length, 0);
  const lines = await shown(registry);
  ok(lines.includes('kubernetes_feature_enabled{name="AllAlpha",stage="ALPHA"} 0'));
  ok(lines.includes('kubernetes_feature_enabled{name="APIServerTracing",stage=""} 1'));
  await shown(registry);
  equal(asked.length, Object.keys(GATES).length);
});
