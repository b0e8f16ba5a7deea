// Durations that the API allows and no timer or gRPC deadline can hold. A whole kubelet runs pods with them.
// @promise Hostile tenants and clients: Grace periods and deadlines of thousands of years, of pods, probes and CRI
//   requests, are limited to 100 years; the kubelet runs, restarts and terminates such pods.
// @with test/shared/base/clock/clock.test.ts, test/shared/kubernetes/cri/client-errors.test.ts,
//   test/shared/kubernetes/plugins/connection.test.ts

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { isHealthy } from "../../tools/standalone/pods.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { agentLog, identities, PATIENCE_MS, podOf, runs, sleeper } from "../support/fault-node.js";
import { IDLE, manifest, shell } from "../support/static-pods.js";

/** 12,700 years: over the 1e8 hours at which grpc-js refuses a deadline. */
const HUGE = 400_000_000_000;

/** The shell is not process 1 of a namespace: a signal that comes before it is caught ends it, too. */
const shareProcessNamespace = true;
const POD_GRACE = manifest("pod-grace", [shell("c0", IDLE)], {
  spec: { shareProcessNamespace, terminationGracePeriodSeconds: HUGE },
});
const LIVENESS = {
  exec: { command: ["false"] },
  periodSeconds: 1,
  failureThreshold: 1,
  terminationGracePeriodSeconds: HUGE,
};
const PROBE_GRACE = manifest("probe-grace", [shell("c0", IDLE, { livenessProbe: LIVENESS })], {
  spec: { shareProcessNamespace },
});
const LONG_HOOK = manifest(
  "long-hook",
  [shell("c0", IDLE, { lifecycle: { preStop: { exec: { command: ["true"] } } } })],
  { spec: { shareProcessNamespace, terminationGracePeriodSeconds: HUGE, activeDeadlineSeconds: 2_147_483_647 } },
);

describe("durations of thousands of years", () => {
  let node: TestNode;

  before(async () => {
    node = await startNode();
    await node.writeManifest("calm", sleeper("calm"));
    await node.waitFor((pods) => runs(pods, "calm"), { what: "the calm pod to run", timeoutMs: PATIENCE_MS });
  });
  after(() => node.stop());

  test("pods that name them start, are killed by probes and are deleted; the kubelet stays the same process", async () => {
    const { pid } = node.kubelet;
    const calm = identities(await node.pods(), ["calm"]);
    await node.writeManifest("pod-grace", POD_GRACE);
    await node.writeManifest("probe-grace", PROBE_GRACE);
    await node.writeManifest("long-hook", LONG_HOOK);
    await node.waitFor((pods) => runs(pods, "pod-grace") && runs(pods, "long-hook"), {
      what: "the pods to run",
      timeoutMs: PATIENCE_MS,
    });
    const restarted = "its liveness probe to have the container of probe-grace restarted";
    await node.waitFor((pods) => (podOf(pods, "probe-grace")?.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0, {
      what: restarted,
      timeoutMs: PATIENCE_MS,
    });
    for (const name of ["pod-grace", "probe-grace", "long-hook"]) await node.removeManifest(name);
    await node.waitFor((pods) => pods.length === 1, { what: "the pods to be removed", timeoutMs: PATIENCE_MS });
    await node.writeManifest("next", sleeper("next"));
    await node.waitFor((pods) => runs(pods, "next"), { what: "another pod to start", timeoutMs: PATIENCE_MS });
    assert.deepEqual(identities(await node.pods(), ["calm"]), calm);
    assert.equal(node.kubelet.pid, pid);
    assert.ok(await isHealthy(node.kubelet.healthzUrl));
  });

  test("a pod whose manifest was removed while the kubelet was down terminates by such a grace period after the start", async () => {
    await node.writeManifest("pod-grace", POD_GRACE);
    await node.waitFor((pods) => runs(pods, "pod-grace"), { what: "the pod to run", timeoutMs: PATIENCE_MS });
    await node.kill9();
    await node.removeManifest("pod-grace");
    const logged = (await agentLog(node)).length;
    await node.restart();
    await node.waitFor((pods) => runs(pods, "calm") && podOf(pods, "pod-grace") === undefined, {
      what: "the pod to be removed",
      timeoutMs: PATIENCE_MS,
    });
    await waitFor(() => isHealthy(node.kubelet.healthzUrl), { what: "the kubelet's health", timeoutMs: PATIENCE_MS });
    const lines = (await agentLog(node)).slice(logged);
    assert.deepEqual(
      lines.filter(({ msg }) => msg.includes("Deadline is too far")),
      [],
    );
  });
});
