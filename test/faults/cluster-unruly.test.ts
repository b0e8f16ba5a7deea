// An API server that responds late, wrongly or not at all. The kubelet carries out every change, touches no running
// pod, and sends no more requests than necessary. One component handles each single fault; here they occur together.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PATIENCE, sleep } from "../../tools/standalone/wait.js";
import { boundPod, NODE_NAME, statusOf } from "../support/cluster-node.js";
import {
  AGENT,
  agentCalls,
  askToEnd,
  isNodeReady,
  livesOf,
  NODE_USER,
  PATIENCE_MS,
  podIn,
  rate,
  settled,
  startFaultyCluster,
  still,
  unready,
  type FaultyCluster,
} from "../support/faulty-cluster.js";
import { IDLE, manifest, shell } from "../support/static-pods.js";

const NAMES = Array.from({ length: 10 }, (_, index) => `u${index}`);
const MIRROR = `static-${NODE_NAME}`;
const CUT_MS = 3000;
/** Most calls for one kind of object: after each cut, and the first ones. */
const FOLLOWING = { perCut: 4, first: 6 };
/** Calls a second while the server refuses all of them at once: each has a back-off of its own. */
const REFUSED_PER_SECOND = 12;
const REFUSED_MS = 4000;
/** Calls a minute when all is well and nothing happens. */
const IDLE_PER_MINUTE = 60;
const IDLE_MS = 4000;

describe("an API server that misbehaves", () => {
  let cluster: FaultyCluster;

  before(async () => {
    cluster = await startFaultyCluster({ node: { config: { nodeStatusUpdateFrequency: "2s" } } });
  });
  after(() => cluster.stop());

  const put = (name: string): void => {
    const pod = boundPod(name, IDLE);
    cluster.fixture.store.put("pods", { ...pod, metadata: { name, namespace: "default" } });
  };
  const live = [...NAMES.slice(5), MIRROR];

  test("lost responses: a call that took effect is not repeated", { timeout: 2 * PATIENCE_MS * PATIENCE }, async () => {
    const { fixture } = cluster;
    const { faults } = fixture;
    faults.drop({ ...AGENT, resource: "pods" }, "after", { times: 3 });
    faults.drop({ ...AGENT, resource: "pods", subresource: "status" }, "after", { times: 3 });
    put("lost-answers");
    await settled("a pod whose status answers are lost", () => unready(fixture, ["lost-answers"]));
    assert.equal(statusOf(podIn(fixture, "lost-answers")).containerStatuses?.[0]?.restartCount, 0);
    faults.drop({ ...AGENT, resource: "pods", verb: "delete" }, "after", { times: 1 });
    await askToEnd(cluster, "lost-answers");
    await settled("it is gone", () => still(fixture, ["lost-answers"]));
    faults.clear();
  });

  test(
    "a server that refuses everything for a while is not run down",
    { timeout: 2 * PATIENCE_MS * PATIENCE },
    async () => {
      const { fixture } = cluster;
      put("ends-meanwhile");
      await settled("a pod", () => unready(fixture, ["ends-meanwhile"]));
      await askToEnd(cluster, "ends-meanwhile");
      const since = Date.now();
      fixture.faults.fail({ ...AGENT, verb: "watch" }, { code: 410 }, { times: 4 });
      fixture.faults.fail(AGENT, { code: 500 }, { share: 0.5 });
      fixture.faults.fail(AGENT, { code: 429 });
      fixture.faults.cutWatchesNow();
      put("meanwhile");
      await sleep(REFUSED_MS);
      const { perMinute, kinds } = rate(agentCalls(fixture, since), (Date.now() - since) / 1000);
      fixture.faults.clear();
      assert.ok(perMinute <= REFUSED_PER_SECOND * 60, `${perMinute} calls a minute: ${kinds}`);
      await settled("what was asked meanwhile", () =>
        [unready(fixture, ["meanwhile"]), still(fixture, ["ends-meanwhile"])].join(""),
      );
    },
  );

  test(
    "one in ten calls fails, all are late, watches are cut, versions expire",
    { timeout: 3 * PATIENCE_MS * PATIENCE },
    async () => {
      const { fixture, node } = cluster;
      await settled("the node", () => (isNodeReady(fixture) ? "" : "not Ready"));
      put("calm");
      await settled("a pod of better days", () => unready(fixture, ["calm"]));
      const calm = livesOf(fixture, ["calm"]);

      const since = Date.now();
      const agent = { user: NODE_USER };
      const { faults } = fixture;
      faults.delay(AGENT, 500);
      faults.fail(AGENT, { code: 500 }, { share: 0.1 });
      faults.fail(AGENT, { code: 429, retryAfter: 1 }, { share: 0.05 });
      faults.cutWatches(CUT_MS, "drop");
      await node.writeManifest("static", manifest("static", [shell("app", IDLE)]));
      for (const name of NAMES) put(name);
      await settled("ten pods and a mirror", () => unready(fixture, [...NAMES, MIRROR]));
      faults.expireWatches();
      const before = livesOf(fixture, live);
      for (const name of NAMES.slice(0, 5)) await askToEnd(cluster, name);
      await settled("five pods gone", () => still(fixture, NAMES.slice(0, 5)));
      faults.expireWatches();
      put("late");
      await settled("a pod after versions expired", () => unready(fixture, ["late"]));
      // The shares are random, and the node's own calls go on: each fault occurs at some time.
      for (const code of [500, 429]) {
        await settled(`a call to be answered with ${code}`, () =>
          fixture.calls.count({ code }, since) > 0 ? "" : "none",
        );
      }
      await settled("watches to be made anew", () =>
        fixture.calls.count({ ...agent, verb: "watch" }, since) > 0 ? "" : "none",
      );
      const seconds = (Date.now() - since) / 1000;
      const calls = agentCalls(fixture, since);
      faults.clear();

      const following = new Map<string, number>();
      for (const { verb, resource } of calls) {
        if (verb === "watch" || verb === "list") following.set(resource, (following.get(resource) ?? 0) + 1);
      }
      const limit = FOLLOWING.first + (FOLLOWING.perCut * seconds * 1000) / CUT_MS;
      const { kinds } = rate(calls, seconds);
      for (const [resource, count] of following)
        assert.ok(count <= limit, `${count} calls to follow ${resource}: ${kinds}`);
      assert.deepEqual(livesOf(fixture, live), before, "who was not asked to go was not touched");
      assert.deepEqual(livesOf(fixture, ["calm"]), calm);
      assert.ok(isNodeReady(fixture));
    },
  );

  test(
    "after the faults the kubelet makes no more requests than before",
    { timeout: 2 * PATIENCE_MS * PATIENCE },
    async () => {
      const { fixture } = cluster;
      await settled("nothing is left to tell", async () => {
        const since = Date.now();
        await sleep(IDLE_MS);
        const { perMinute, kinds } = rate(agentCalls(fixture, since), (Date.now() - since) / 1000);
        return perMinute <= IDLE_PER_MINUTE ? "" : `${perMinute} calls a minute: ${kinds}`;
      });
    },
  );
});
