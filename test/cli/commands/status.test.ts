// The text of `nodelet status` and `nodelet pods`, and the rules of problems of a node.

import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { podTable } from "../../../src/cli/commands/pods.js";
import { statusText } from "../../../src/cli/commands/status.js";
import { findPod } from "../../../src/cli/pods/find.js";
import { podState } from "../../../src/cli/pods/state.js";
import { problemsOf } from "../../../src/cli/problems.js";
import type { NodeletStatus } from "../../../src/shared/contracts/nodelet.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { containerStatus, node, NOW, PLAIN, pod, RUNNING, RUNTIME, seen } from "../kit.js";

const ready = pod(
  { phase: "Running", containerStatuses: [containerStatus(RUNNING, { ready: true })] },
  { nodeName: "n" },
  "web-n",
);
const late = { name: "pleg", state: "running", starts: 2, lastTickMs: 61_000, loopDelayMaxMs: 5, queued: 0 } as const;
const DAY = 24 * 3_600_000;
const certificate = (days: number) => [{ use: "serving" as const, file: "/pki/k.crt", notAfter: NOW + days * DAY }];

/** A file system of 100 MiB with 100 inodes. */
const disk = (freeMiB: number, inodesFree: number) => ({
  ...{ path: "/r", capacityBytes: 100 * 2 ** 20, availableBytes: freeMiB * 2 ** 20 },
  ...{ inodes: 100, inodesFree },
});

const PROBLEMS: readonly (readonly [name: string, status: NodeletStatus, ...words: RegExp[]])[] = [
  [
    "a late thread",
    node({}, { threads: [{ ...late, operation: { name: "relist", forMs: 60_000 } }] }),
    /pleg has not run for 61s, in the operation "relist" for 60s/,
  ],
  ["a stuck main thread", node({}, { mainProblem: "no response within 2 s" }), /main thread does not respond/],
  [
    "a configuration that is not the assigned one",
    node({
      configuration: { assigned: "ConfigMap a/b/kubelet", active: "local files", onTrial: false, error: "x:1:2: bad" },
    }),
    /does not run the assigned configuration, but local files: x:1:2: bad/,
  ],
  ["an absent runtime", node({ runtime: { ...RUNTIME, reachable: false } }), /does not respond at unix/],
  [
    "a runtime without a network",
    node({ runtime: { ...RUNTIME, networkReady: false, message: "cni" } }),
    /no pod network: cni/,
  ],
  [
    "an absent API server",
    node({}, { apiServer: { problem: "connect ECONNREFUSED" } }),
    /^the API server does not respond to this node: connect ECONNREFUSED\. Pods of this node keep running/,
  ],
  [
    "an API server that is known by its address",
    node({ api: { server: "https://10.0.0.1:6443", awaySince: NOW - 60_000 } }, { apiServer: { problem: "refused" } }),
    /^the API server https:\/\/10\.0\.0\.1:6443 does not respond to this node: refused/,
  ],
  [
    "an API server that refuses the node",
    node({}, { apiServer: { problem: "Unauthorized", refused: true } }),
    /^the API server refuses the requests of this node: Unauthorized\. Pods of this node keep running/,
  ],
  [
    "a pressure",
    node({ pressures: [{ type: "DiskPressure", since: NOW - 5000 }] }),
    /short of disk space or inodes \(DiskPressure\)/,
  ],
  [
    "a pressure on the disk of the pods",
    node({ pressures: [{ type: "DiskPressure", since: NOW - 5000 }] }, { disk: disk(3, 50) }),
    /\(DiskPressure\).* critical ones\. 3\.0 MiB of 100 MiB are free on the disk of \/r$/,
  ],
  ["a full disk", node({}, { disk: disk(0, 1) }), /disk of \/r is full: .*\. 0 B of 100 MiB are free/],
  ["a disk without inodes", node({}, { disk: disk(50, 0) }), /disk of \/r is full: .*, and 0 of 100 inodes/],
  [
    "a hung mount",
    node({ hungMounts: [{ mountPoint: "/m", source: "s", fsType: "nfs", since: NOW }] }),
    /volume at \/m \(nfs from s\) does not respond/,
  ],
  ["an expired certificate", node({}, { certificates: certificate(-1) }), /expired at 2026-01-01/],
  ["a certificate that expires soon", node({}, { certificates: certificate(3) }), /expires in 3d/],
];

describe("problems of a node", () => {
  for (const [name, status, ...words] of PROBLEMS) {
    test(name, () => {
      const problems = problemsOf(status);
      equal(problems.length, 1);
      for (const word of words) match(problems[0]?.what ?? "", word);
      match(problems[0]?.help ?? "", /\w/);
    });
  }
  test("a node that is well has no problem", () => {
    const fine = { certificates: certificate(300), apiServer: { tookMs: 3 }, disk: disk(2, 2) };
    deepEqual(problemsOf(node({}, fine)), []);
    deepEqual(problemsOf(node({}, { disk: { ...disk(2, 0), inodes: 0 } })), []);
  });
});

test("status shows every part and every problem on one screen", () => {
  const status = node(
    { pressures: [{ type: "MemoryPressure", since: NOW - 5000 }] },
    { certificates: certificate(300) },
  );
  const sick = pod({ phase: "Running", containerStatuses: [containerStatus(RUNNING)] }, {}, "sick");
  const text = statusText(
    PLAIN,
    status,
    [ready, sick].map((one) => seen(one)),
    problemsOf(status),
  );
  match(text, /^runtime +containerd 1\.6\.20, ready for 60m/m);
  match(text, /^API server +none: the node runs stand-alone$/m);
  match(text, /^serving cert +expires in 300d/m);
  match(text, /^pressures +MemoryPressure$/m);
  match(text, /^pods +2: 1 Running, 1 Running but not ready$/m);
  match(text, /^pleg +running +3 ms ago +1 +5 ms +0 +-$/m);
  match(text, /^error: the node is short of memory [^]*for 5s/m);
  match(text, /^pod: default\/sick is Running, 0 of 1 containers ready: nodelet why default\/sick$/m);
  match(statusText(PLAIN, node(), [seen(ready)], []), /nothing is wrong/);
  const configuration = { assigned: "ConfigMap a/b/kubelet", active: "ConfigMap a/b/kubelet", onTrial: true };
  match(
    statusText(PLAIN, node({ configuration }), [seen(ready)], []),
    /^configuration +ConfigMap a\/b\/kubelet, on trial \(assigned: ConfigMap a\/b\/kubelet; last known good: none yet\)$/m,
  );
});

test("pods: a line per pod; control characters of names do not reach the terminal", () => {
  match(podTable(PLAIN, [ready], NOW), /default +web-n +1\/1 +Running +0 +90s/);
  equal(podTable(PLAIN, [], NOW), "this node has no pods\n");
});

describe("a pod's state in a word", () => {
  const waiting = (reason: string) => ({ waiting: { reason } });
  const init = { initContainers: [{ name: "a" }, { name: "b" }] };
  const done = { terminated: { exitCode: 0 } };
  const rows: [string, ReturnType<typeof pod>][] = [
    ["Pending", pod({})],
    ["ImagePullBackOff", pod({ containerStatuses: [containerStatus(waiting("ImagePullBackOff"))] })],
    ["Evicted", pod({ phase: "Failed", reason: "Evicted" })],
    ["Completed", pod({ phase: "Succeeded", containerStatuses: [containerStatus(done)] })],
    [
      "OOMKilled",
      pod({
        phase: "Failed",
        containerStatuses: [containerStatus({ terminated: { exitCode: 137, reason: "OOMKilled" } })],
      }),
    ],
    [
      "Init:1/2",
      pod(
        { initContainerStatuses: [containerStatus(done, { name: "a" }), containerStatus(RUNNING, { name: "b" })] },
        init,
      ),
    ],
    [
      "Init:CrashLoopBackOff",
      pod({ initContainerStatuses: [containerStatus(waiting("CrashLoopBackOff"), { name: "a" })] }, init),
    ],
  ];
  for (const [word, given] of rows) test(word, () => equal(podState(given).word, word));
});

describe("the pod that a name means", () => {
  const other = { ...ready, metadata: { ...ready.metadata, namespace: "other", uid: podUid("u2") } };
  test("the full name, the name of its manifest, its UID", () => {
    for (const name of ["web-n", "web", "default/web", "uid-web-n"]) equal(findPod([ready], name), ready);
    equal(findPod([ready, other], "web", "other"), other);
  });
  const error = (pods: Parameters<typeof findPod>[0], name: string): unknown => {
    try {
      return findPod(pods, name);
    } catch (thrown) {
      return thrown;
    }
  };
  test("none: exit code 1 and the nearest name; several: exit code 2", () => {
    const none = error([ready], "wev-n");
    match((none as { remedy: string }).remedy, /did you mean web-n/);
    equal((none as { exitCode: number }).exitCode, 1);
    equal((error([ready, other], "web") as { exitCode: number }).exitCode, 2);
  });
});

test("a thread at rest is no problem, and has another state than one that this node does not need", () => {
  const off = { starts: 0, loopDelayMaxMs: 0, queued: 0 };
  const threads = [
    { ...off, name: "image-gc", state: "resting" as const, starts: 7 },
    { ...off, name: "dockershim", state: "exited" as const },
  ];
  const status = node({}, { threads });
  deepEqual(problemsOf(status), []);
  const text = statusText(PLAIN, status, [], []);
  match(text, /image-gc +resting +- +7/);
  match(text, /dockershim +not needed +- +0/);
});
