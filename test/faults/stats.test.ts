// Statistics of pods that terminate during the reading, and without a response of the runtime. The pages have the
// remaining figures.
// @promise Failures: Pods that terminate while their stats are read, a stopped runtime. Every page is complete and in
//   time, from the values of the cgroups.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Summary } from "../../src/workers/server/stats/summary/types.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { PATIENCE_MS, runs, sleeper } from "../support/fault-node.js";

const ENDING = Array.from({ length: 6 }, (_, index) => `ends-${index}`);
const PAGES = ["/metrics/resource", "/metrics/cadvisor", "/stats/summary", "/stats/summary?only_cpu_and_memory=true"];
/** A scraper gives up after ten seconds. */
const SCRAPER_MS = 10_000;

let node: TestNode;

before(async () => {
  // This runtime has no ListPodSandboxStats: cgroups are read, as without the gate.
  const config = { featureGates: { PodAndContainerStatsFromCRI: true } };
  node = await startNode({ containerd: "own", config });
  for (const name of ["stays", ...ENDING]) await node.writeManifest(name, sleeper(name));
  await node.waitFor((pods) => ["stays", ...ENDING].every((name) => runs(pods, name)), {
    what: "the pods to run",
    timeoutMs: PATIENCE_MS,
  });
});
after(() => node.stop());

async function get(path: string): Promise<string> {
  const response = await fetch(`${node.kubelet.url}${path}`, { signal: AbortSignal.timeout(SCRAPER_MS) });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return text;
}

/** Returns the working set of the container of the pod that stays. */
async function workingSet(): Promise<number | undefined> {
  const { pods } = JSON.parse(await get("/stats/summary")) as Summary;
  return pods.find(({ podRef }) => podRef.name.startsWith("stays"))?.containers[0]?.memory?.workingSetBytes;
}

test("pods that end while they are read: every page is whole, and no figure below 0", async () => {
  for (const name of ENDING) await node.removeManifest(name);
  let left = ENDING.length + 1;
  await waitFor(
    async () => {
      const [resource = "", cadvisor = "", ...summaries] = await Promise.all(PAGES.map(get));
      assert.ok(resource.includes("\nresource_scrape_error 0\n"));
      assert.ok(cadvisor.includes("\ncontainer_scrape_error 0\n"));
      // -1 is "no limit", and "no health check".
      for (const [row] of `${resource}${cadvisor}`.matchAll(/^[^#].* -\d.*$/gm)) {
        assert.match(row, /^container_(ulimits_soft|health_state)\{.* -1( \d+)?$/);
      }
      for (const text of summaries) {
        assert.equal(/: -\d.*/.exec(text)?.[0], undefined);
        for (const pod of (JSON.parse(text) as Summary).pods) assert.ok(pod.memory !== undefined, pod.podRef.name);
      }
      left = Math.max(...summaries.map((text) => (JSON.parse(text) as Summary).pods.length));
      return left === 1;
    },
    { what: "the pods to be removed", lastSeen: () => `${left} left`, timeoutMs: PATIENCE_MS },
  );
});

test("a runtime that does not respond: the summary contains the cgroups' figures", async () => {
  const pid = node.containerd?.pid;
  assert.ok(pid !== undefined);
  process.kill(pid, "SIGSTOP");
  try {
    let whole = 0;
    // A machine that stalls may miss the scraper's time once.
    await waitFor(
      async () => {
        const used = await workingSet();
        assert.ok(used !== undefined && used > 0, String(used));
        assert.ok((await get("/metrics/cadvisor")).includes('\ncontainer_memory_rss{container="c0"'));
        return ++whole >= 3;
      },
      { what: "three whole answers of each page", timeoutMs: PATIENCE_MS },
    );
  } finally {
    process.kill(pid, "SIGCONT");
  }
});
