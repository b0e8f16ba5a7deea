// The rules of `nodelet why`: each cause is explained without reference to source code, with the next try and a remedy.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { whyText } from "../../../src/cli/commands/why.js";
import { explain } from "../../../src/cli/why/explain.js";
import type { WhyInput } from "../../../src/cli/why/input.js";
import type { Event } from "../../../src/shared/kubernetes/api/event.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import {
  ago,
  containerStatus,
  event,
  facts,
  input,
  node,
  NOW,
  PLAIN,
  pod,
  RUNNING,
  RUNTIME,
  timeline,
} from "../kit.js";

const waiting = (reason: string, message = "") => ({ waiting: { reason, message } });
const pulls = (message: string, image = "reg.test/a:1") =>
  input({
    pod: pod(
      {
        containerStatuses: [
          containerStatus(waiting("ImagePullBackOff", `Back-off pulling image "${image}": ErrImagePull: ${message}`)),
        ],
      },
      { containers: [{ name: "app", image }] },
    ),
    facts: facts({
      startFailures: [
        {
          container: "app",
          reason: "ImagePullBackOff",
          message,
          failedAt: NOW - 5000,
          nextTryAt: NOW + 20_000,
          tries: 3,
        },
      ],
    }),
  });
const ended = (exitCode: number, reason = "Error") => ({
  terminated: { exitCode, reason, startedAt: ago(20), finishedAt: ago(15) },
});
const crash = (exitCode: number, reason?: string) =>
  containerStatus(waiting("CrashLoopBackOff", "back-off 40s restarting failed container=app pod=web"), {
    lastState: ended(exitCode, reason),
    restartCount: 3,
  });
const failedPod = (reason: string, message: string) => pod({ phase: "Failed", reason, message });
const probed = (fields: object) => ({ containers: [{ name: "app", image: "i", ...fields }] });

const ROWS: readonly (readonly [name: string, input: WhyInput, ...words: RegExp[]])[] = [
  [
    "a registry whose name does not resolve",
    pulls(
      'failed to resolve reference "reg.test/a:1": failed to do request: Head: dial tcp: lookup reg.test: no such host',
    ),
    /image "reg\.test\/a:1" cannot be pulled after 3 tries: the name of its registry reg\.test does not resolve: failed to do request: .* no such host/,
    /tries again in 20s/,
    /the name reg\.test does not resolve on this node/,
  ],
  [
    "a registry that is one by an upper-case letter, as containerd 2 reads it",
    pulls(
      'failed to do request: Head "https://Team/v2/a/manifests/1": dial tcp: lookup Team: no such host',
      "Team/a:1",
    ),
    /the name of its registry Team does not resolve/,
    /correct the image's name: runtimes read Team as a registry/,
  ],
  [
    "a registry at an IPv6 address",
    pulls("dial tcp [::1]:5000: connect: connection refused", "[::1]:5000/a:1"),
    /\[::1\]:5000 did not respond/,
  ],
  ["an image that does not exist", pulls("reg.test/a:1: not found"), /check the spelling of repository and tag/],
  ["missing credentials", pulls("pull access denied: 401 Unauthorized"), /check imagePullSecrets/],
  ...(
    [
      [
        "127.0.0.1:44429/none:1",
        "pulling from host 127.0.0.1:44429 failed with status code [manifests 1]: 401 Unauthorized",
      ],
      ["reg.test/rate limit/404:429", "reg.test/rate limit/404:429: pull access denied"],
      ["404-page:not-found", "docker.io/library/404-page:not-found: 403 Forbidden"],
    ] as const
  ).map(([image, message]): [string, WhyInput, RegExp] => [
    `missing credentials for ${image}, whose name has words of other errors`,
    pulls(message, image),
    /the registry refuses these credentials/,
  ]),
  [
    "a tag that is missing, with a number in an address",
    pulls("10.4.29.3:5429: manifest unknown"),
    /check the spelling/,
  ],
  ["too many pulls", pulls("the server replied 429."), /limits the number of pulls/],
  ["a registry that does not respond", pulls("dial tcp 10.0.0.1:443: i/o timeout"), /does not reach reg\.test/],
  ["a certificate that is not trusted", pulls("x509: certificate signed by unknown authority"), /add its CA/],
  [
    "an image that may not be pulled",
    input({ pod: pod({ containerStatuses: [containerStatus(waiting("ErrImageNeverPull"))] }) }),
    /not on this node, and imagePullPolicy Never/,
  ],
  [
    "a crash loop",
    input({ pod: pod({ phase: "Running", containerStatuses: [crash(3)] }) }),
    /not running: CrashLoopBackOff, after 3 restarts/,
    /it exited with code 3; 3 restarts so far, the last run took 5s/,
    /tries again in 25s/,
    /nodelet logs web -c app --previous/,
  ],
  ["a segmentation fault", input({ pod: pod({ containerStatuses: [crash(139)] }) }), /code 139, killed by SIGSEGV/],
  [
    "a crash loop by a liveness probe",
    input({
      pod: pod({ containerStatuses: [crash(137)] }),
      events: [event("Killing", "Container app failed liveness probe, will be restarted")],
    }),
    /its liveness probe failed without output, 3 times in a row; killed 1 time, last 2s ago/,
  ],
  [
    "an OOM kill with the container's limit",
    input({
      pod: pod({ containerStatuses: [crash(137, "OOMKilled")] }, probed({ resources: { limits: { memory: "64Mi" } } })),
    }),
    /killed it \(OOMKilled\): it needed more than its memory limit of 64\.0 MiB \(resources\.limits\.memory of the container\)/,
    /raise the memory limit/,
  ],
  [
    "an OOM kill of a container that runs again",
    input({
      pod: pod({
        phase: "Running",
        containerStatuses: [containerStatus(RUNNING, { lastState: ended(137, "OOMKilled") })],
      }),
    }),
    /the memory of the node: the container has no limit/,
  ],
  [
    "a readiness probe with its last output",
    input({
      pod: pod(
        { phase: "Running", containerStatuses: [containerStatus(RUNNING, { started: true })] },
        probed({ readinessProbe: { httpGet: { path: "/ok", port: 80 } } }),
      ),
      events: [
        event("Unhealthy", "Readiness probe failed: Get http://10.0.0.1:80/ok: dial tcp: connection refused", {
          count: 7,
        }),
      ],
    }),
    /is running, 0 of 1 containers are ready/,
    /readiness probe \(GET \/ok on port 80\) has failed 7 times, so the container is not ready/,
    /Its last output: Get http.*connection refused/,
    /no program listens on this port/,
  ],
  [
    "a startup probe that has not succeeded yet",
    input({
      pod: pod(
        { phase: "Running", containerStatuses: [containerStatus(RUNNING, { started: false })] },
        probed({ startupProbe: { exec: { command: ["test", "-e", "/x"] } } }),
      ),
    }),
    /startup probe \(exec test -e \/x\) has not succeeded yet/,
  ],
  [
    "a volume that hangs",
    input({
      pod: pod({ containerStatuses: [containerStatus(waiting("ContainerCreating"))] }),
      facts: facts({
        volumes: [
          {
            name: "data",
            plugin: "host-path",
            mounted: false,
            lastError: "/mnt/nfs/x is on server (nfs, mounted at /mnt/nfs)",
            nextTryAt: NOW + 8000,
          },
        ],
      }),
      node: node({
        hungMounts: [{ mountPoint: "/mnt/nfs", source: "server:/x", fsType: "nfs", since: NOW - 600_000 }],
      }),
    }),
    /volume data: it hangs: the file system at \/mnt\/nfs \(nfs from server:\/x\) does not respond/,
    /for 10m, since 2026-01-02 02:54:05Z/,
    /umount -l \/mnt\/nfs/,
    /tries again in 8s/,
  ],
  [
    "a missing secret",
    input({
      pod: pod({}),
      facts: facts({ volumes: [{ name: "s", plugin: "secret", mounted: false, lastError: 'secret "x" not found' }] }),
    }),
    /volume s: the secret plugin failed: secret "x" not found/,
    /create the missing object/,
  ],
  [
    "a refusal for a short resource, with its holders",
    input({
      pod: failedPod("OutOfcpu", "Node didn't have enough resource: cpu, requested: 1500, used: 900, capacity: 2000"),
      pods: [
        {
          ...pod({ phase: "Running" }, probed({ resources: { requests: { cpu: "900m" } } }), "greedy"),
          status: { phase: "Running" },
        },
      ],
    }),
    /the kubelet refused it: 400m CPU is missing\. It requests 1\.5 CPUs, pods of this node have 900m CPU of the 2 CPUs that are allocatable/,
    /Most is requested by default\/greedy \(900m CPU\)/,
    /never runs again under its UID/,
  ],
  [
    "a request above the node's size",
    input({
      pod: failedPod(
        "OutOfmemory",
        "Node didn't have enough resource: memory, requested: 1099511627776, used: 0, capacity: 1073741824",
      ),
    }),
    /this node never has so much: request at most 1\.0 GiB/,
  ],
  [
    "an eviction",
    input({ pod: failedPod("Evicted", "The node was low on resource: memory.") }),
    /evicted it/,
    /low on resource: memory/,
  ],
  [
    "an unknown refusal",
    input({ pod: failedPod("Strange", "no reason") }),
    /it is Failed \(Strange\)\. The kubelet's message: no reason/,
  ],
  [
    "a stopped runtime",
    input({
      pod: pod({ containerStatuses: [containerStatus(waiting("ContainerCreating"))] }),
      facts: facts({ retry: { message: "unavailable", failures: 3, nextTryAt: NOW + 1000 } }),
      node: node({
        runtime: { ...RUNTIME, reachable: false, message: "connection refused" },
        runtimeSince: NOW - 30_000,
      }),
    }),
    /node: the container runtime containerd does not respond at unix:.*: connection refused/,
    /for 30s/,
    /systemctl restart containerd/,
  ],
  [
    "a sandbox that the runtime cannot create",
    input({
      pod: pod({}),
      events: [event("FailedCreatePodSandBox", "Failed to create pod sandbox: cni plugin not initialized")],
      facts: facts({ retry: { message: "cni plugin not initialized", failures: 2, nextTryAt: NOW + 4000 } }),
    }),
    /cannot create its sandbox .*: cni plugin not initialized/,
    /`nodelet doctor` names what is missing and the folders in which the runtime looks; `nodelet doctor --fix`/,
  ],
  [
    "a sandbox without a network, and where the runtime looks for it",
    input({
      pod: pod({}),
      events: [event("FailedCreatePodSandBox", "Failed to create pod sandbox: cni plugin not initialized")],
      node: { ...node(), cni: { confDir: "/etc/cni/net.d", binDirs: ["/usr/lib/cni"] } },
    }),
    /its configuration is in \/etc\/cni\/net\.d, its programs in \/usr\/lib\/cni\./,
  ],
  [
    "a sandbox that the Docker Engine cannot create",
    input({
      pod: pod({}),
      events: [event("FailedCreatePodSandBox", "Failed to create pod sandbox: the Engine refuses it")],
      node: node({ runtime: { ...RUNTIME, name: "docker" } }),
    }),
    /journalctl -u docker/,
  ],
  [
    "a pod in its grace period",
    input({
      pod: pod({ phase: "Running", containerStatuses: [containerStatus(RUNNING)] }),
      facts: facts({ worker: "terminating", termination: { reason: "the manifest is gone", deadline: NOW + 12_000 } }),
    }),
    /it is terminating \(the manifest is gone\)\. still running: app\. SIGKILL follows in 12s/,
  ],
  [
    "a pod that the runtime does not kill",
    input({
      pod: pod({ phase: "Running", containerStatuses: [containerStatus(RUNNING)] }),
      facts: facts({ worker: "terminating", termination: { reason: "deleted", deadline: NOW - 60_000 } }),
    }),
    /the runtime has not killed it yet/,
    /uninterruptible sleep/,
  ],
  [
    "an init container that runs",
    input({
      pod: pod(
        {
          initContainerStatuses: [containerStatus(RUNNING, { name: "fetch" })],
          containerStatuses: [containerStatus(waiting("PodInitializing"))],
        },
        { initContainers: [{ name: "fetch", image: "i" }] },
      ),
    }),
    /not running: Init:0\/1/,
    /init container fetch: it runs, and the containers after it wait/,
  ],
  [
    "a configuration error",
    input({
      pod: pod({
        containerStatuses: [containerStatus(waiting("CreateContainerConfigError", 'configmap "x" not found'))],
      }),
    }),
    /cannot be started \(CreateContainerConfigError\): configmap "x" not found/,
    /create the missing ConfigMap or Secret/,
  ],
  [
    "a sync that fails for another reason",
    input({ pod: pod({}), facts: facts({ retry: { message: "odd", failures: 2, nextTryAt: NOW + 2000 } }) }),
    /last pass over it failed \(2 in a row\): odd/,
  ],
  [
    "a name that is too long for the folder of the pod's logs",
    input({
      pod: pod({}),
      facts: facts({ retry: { message: "ENAMETOOLONG: name too long, mkdir '/l'", failures: 6, nextTryAt: NOW } }),
    }),
    /at most 255 bytes: create the pod under a shorter name/,
  ],
  [
    "an earlier pod of the same name",
    input({ pod: pod({}), facts: facts({ waitsFor: { uid: podUid("old") } }) }),
    /an earlier pod of the same name \(UID old\) must terminate first/,
  ],
  ["a pod that has just come", input({ pod: pod({}) }), /the kubelet is working on it \(pod worker: syncing\)/],
];

describe("why", () => {
  for (const [name, given, ...words] of ROWS) {
    test(name, () => {
      const explanation = explain(given, undefined);
      equal(explanation.fine, false);
      const text = whyText(PLAIN, explanation, NOW).replace(/\s+/g, " ");
      for (const word of words) match(text, word);
    });
  }

  test("a pod that runs and is ready is fine, and needs no finding", () => {
    const ready = pod({
      phase: "Running",
      containerStatuses: [containerStatus(RUNNING, { ready: true, started: true })],
    });
    const explanation = explain(input({ pod: ready }), undefined);
    equal(explanation.fine, true);
    deepEqual(explanation.findings, []);
    equal(explanation.verdict, "is running and ready");
  });

  test("decisions are in order of time, from source, phases, events and failed steps", () => {
    const explanation = explain(
      input({ pod: pod({}), events: [event("Pulling", "Pulling image", { firstTimestamp: ago(10) })] }),
      timeline({
        seenAt: NOW - 20_000,
        phases: [{ at: NOW - 15_000, phase: "Pending" }],
        stages: [
          { stage: "pull", container: "app", startedAt: NOW - 10_000, endedAt: NOW - 5000, error: "not found" },
          { stage: "volumes", startedAt: NOW - 1000 },
        ],
      }),
    );
    deepEqual(
      explanation.decisions.map(({ what }) => what),
      [
        "the kubelet received the pod",
        "phase Pending",
        "Pulling: Pulling image",
        "step pull of app failed: not found",
        "step volumes began and goes on",
      ],
    );
  });

  test("events of one second are in their true order, and repeated ones stand where they happened first", () => {
    const named = (ms: number, serial: number): { metadata: Event["metadata"] } => ({
      metadata: { name: `web.${(BigInt(ms) * 1_000_000n + BigInt(serial)).toString(16)}`, namespace: "default" },
    });
    const second = NOW - 60_000;
    const at = { firstTimestamp: ago(60), lastTimestamp: ago(60) };
    const { decisions } = explain(
      input({
        pod: pod({}),
        events: [
          event("Started", "Started container app", {
            ...at,
            ...named(second + 900, 7),
            count: 6,
            lastTimestamp: ago(9),
          }),
          event("Pulled", "Image is there", { ...at, ...named(second + 400, 5), count: 7, lastTimestamp: ago(5) }),
          event("Created", "Created container app", { ...at, ...named(second + 800, 6) }),
        ],
      }),
      timeline({
        seenAt: second + 300,
        phases: [{ at: second + 950, phase: "Running" }],
      }),
    );
    deepEqual(
      decisions.map(({ what, count, lastAt }) => [what, count, lastAt]),
      [
        ["the kubelet received the pod", undefined, undefined],
        ["Pulled: Image is there", 7, NOW - 5000],
        ["Created: Created container app", undefined, undefined],
        ["Started: Started container app", 6, NOW - 9000],
        ["phase Running", undefined, undefined],
      ],
    );
  });

  test("text of registries and programs cannot steer the terminal", () => {
    const given = pulls("\u001b[31mred\u0007 not found");
    ok(!whyText(PLAIN, explain(given, undefined), NOW).includes("\u001b"));
  });
});

test("a pod that the kubelet ended and whose containers exited with 0 is complete, and the reason is named", () => {
  const condition = {
    type: "DisruptionTarget",
    status: "True",
    reason: "TerminationByKubelet",
    message: "The node was low on resource: memory.",
    lastTransitionTime: ago(60),
  } as const;
  const ofPod = (status: object) => explain(input({ pod: pod({ phase: "Succeeded", ...status }) }), undefined);
  const { fine, findings } = ofPod({ conditions: [condition] });
  equal(fine, true);
  match(
    findings[0]?.what ?? "",
    /the kubelet terminated it, and all its containers exited with 0.*low on resource: memory/,
  );
  deepEqual(ofPod({ conditions: [{ ...condition, reason: "PreemptionByScheduler" }] }).findings, []);
});
