// Pods whose objects grow over the client's limit of 3 MiB while they run: by their labels, and by their status.
// The kubelet is killed and starts with them. It touches no container, and carries out the deletion.
// @promise Failures: A pod whose object has grown over 3 MiB keeps its containers over a restart of the kubelet, and
//   its deletion is carried out.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { boundPod } from "../support/cluster-node.js";
import {
  askToEnd,
  livesOf,
  PATIENCE_MS,
  podIn,
  settled,
  startFaultyCluster,
  still,
  unready,
  type FaultyCluster,
} from "../support/faulty-cluster.js";
import { IDLE } from "../support/static-pods.js";

const NAMES = ["by-labels", "by-status"];
const MIB = 1024 * 1024;
const MESSAGE = "<".repeat(4 * MIB);
const LABELS = Object.fromEntries(
  Array.from({ length: (4 * MIB) / 64 }, (_, index) => [`test/label-${index}`, "v".repeat(48)]),
);

describe("pods over the limit of an object", () => {
  let cluster: FaultyCluster;

  before(async () => {
    cluster = await startFaultyCluster();
  });
  after(() => cluster.stop());

  /** As the server would have it after many small changes. */
  function grow(name: string): void {
    const pod = podIn(cluster.fixture, name);
    assert.ok(pod !== undefined);
    const grown =
      name === "by-status"
        ? { ...pod, status: { ...pod.status, message: MESSAGE } }
        : { ...pod, metadata: { ...pod.metadata, labels: LABELS } };
    cluster.fixture.store.put("pods", grown);
  }

  test(
    "they run on over a restart of the kubelet, and end when they are deleted",
    { timeout: 4 * PATIENCE_MS * PATIENCE },
    async () => {
      const { fixture, node } = cluster;
      for (const name of NAMES) await cluster.api.create("pods", boundPod(name, IDLE));
      await settled("both pods", () => unready(fixture, NAMES));
      const lives = livesOf(fixture, NAMES);
      await node.kill9();
      NAMES.forEach(grow);
      await node.restart();
      // A pod that comes after them shows that the lists were read.
      await cluster.api.create("pods", boundPod("later", IDLE));
      await settled("a later pod", () => unready(fixture, ["later"]));
      const known = (await node.pods()).map(({ metadata }) => metadata.name);
      for (const name of NAMES) assert.ok(known.includes(name), `the kubelet knows ${known.join()}`);
      assert.deepEqual(livesOf(fixture, NAMES), lives);
      for (const name of NAMES) await askToEnd(cluster, name);
      await settled("they are gone", () => still(fixture, NAMES));
      const names = (): Promise<string[]> => node.pods().then((pods) => pods.map(({ metadata }) => metadata.name));
      await settled("only the later pod is left", async () => {
        const left = await names();
        return left.join() === "later" ? "" : left.join();
      });
    },
  );
});
