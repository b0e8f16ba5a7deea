// Every table of the command beside each other in a terminal of 80 columns, with names as long as Kubernetes allows.
// @promise Command and status page: Every table of `nodelet` fits a terminal of 80 columns, with the longest names;
//   without a terminal a row is one line.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import { cgroupsText } from "../../../src/cli/commands/cgroups.js";
import { configText, diffText } from "../../../src/cli/commands/config.js";
import { devicesText } from "../../../src/cli/commands/devices.js";
import { eventsText } from "../../../src/cli/commands/events.js";
import { imagesText } from "../../../src/cli/commands/images.js";
import { podText } from "../../../src/cli/commands/pod.js";
import { podTable } from "../../../src/cli/commands/pods.js";
import { statusText } from "../../../src/cli/commands/status.js";
import { timelineText } from "../../../src/cli/commands/timeline.js";
import { topText } from "../../../src/cli/commands/top.js";
import { volumesText } from "../../../src/cli/commands/volumes.js";
import { examplesText } from "../../../src/cli/examples.js";
import { table } from "../../../src/cli/output/table.js";
import { problemsOf } from "../../../src/cli/problems.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { containerStatus, event, facts, node, NOW, PLAIN, pod, RUNNING, seen, timeline } from "../kit.js";

const TERMINAL = { ...PLAIN, columns: 80 };
const NAMESPACE = "n".repeat(63);
const LONG = `${"checkout-service-with-a-long-name.".repeat(7)}web-node-17`;
const IMAGE = `registry.example.com/${"team/".repeat(20)}app@sha256:${"0123456789abcdef".repeat(4)}`;
const ERROR = `MountVolume.SetUp failed for volume "data": rpc error: code = Internal desc = mount.nfs: ${"/srv/share/".repeat(20)} timed out`;
const CONTAINERS = [{ name: "c".repeat(63), image: IMAGE }];
const broken = {
  ...pod(
    {
      phase: "Pending",
      containerStatuses: [
        containerStatus(
          { waiting: { reason: "CreateContainerConfigError", message: ERROR } },
          { name: "c".repeat(63) },
        ),
      ],
      conditions: [{ type: "PodReadyToStartContainers", status: "False", reason: "ContainersNotReady" }] as never,
    },
    { containers: CONTAINERS },
    LONG,
  ),
  metadata: { name: LONG, namespace: NAMESPACE, uid: podUid("0b6d3a1e-6a34-4ac1-9f6a-1f2d3c4b5a69") },
};
const well = pod(
  { phase: "Running", containerStatuses: [containerStatus(RUNNING, { ready: true })] },
  { nodeName: "n" },
);
const name = `${NAMESPACE}/${LONG}`;
const usage = { cpu: { usageNanoCores: 12e6 }, memory: { workingSetBytes: 5e9 } };

const TABLES: readonly (readonly [name: string, text: string])[] = [
  ["pods", podTable(TERMINAL, [broken, well], NOW)],
  [
    "pod",
    podText(
      TERMINAL,
      broken,
      facts({ volumes: [{ name: "v".repeat(63), plugin: "kubernetes.io/nfs", mounted: false, lastError: ERROR }] }),
      NOW,
    ),
  ],
  [
    "events",
    eventsText(TERMINAL, [event("FailedMount", ERROR, { involvedObject: { kind: "Pod", name: LONG, uid: "u" } })], NOW),
  ],
  [
    "volumes",
    volumesText(
      TERMINAL,
      [
        {
          pod: name,
          name: "data",
          plugin: "kubernetes.io/nfs",
          mounted: false,
          lastError: ERROR,
          nextTryAt: NOW + 9000,
        },
      ],
      NOW,
    ),
  ],
  [
    "images",
    imagesText(
      TERMINAL,
      { images: [{ id: "i", names: [IMAGE], sizeBytes: 5e9, pinned: false, usedBy: [name, `${name}-2`] }] },
      {},
      NOW,
    ),
  ],
  [
    "devices",
    devicesText(TERMINAL, {
      devices: [
        { resource: "vendor.example.com/accelerator", id: "GPU-" + "0".repeat(36), nodes: [0], holder: `${name} app` },
      ],
      cpus: [{ holder: `${name} app`, cpus: [1, 2, 3] }],
      freeCpus: [0],
      memory: [{ holder: `${name} app`, type: "hugepages-1Gi", bytes: 2 ** 30, nodes: [0, 1] }],
    }),
  ],
  [
    "cgroups",
    cgroupsText(TERMINAL, [
      {
        ...{
          owner: name,
          path: "/p",
          cpuLimit: 128,
          cpuShares: 262_144,
          throttledPeriods: 123_456_789,
          memoryBytes: 5e12,
        },
        ...{ memoryLimitBytes: 6e12, oomEvents: 17, processes: 4096, processLimit: 4_194_304 },
      },
    ]),
  ],
  [
    "config",
    configText(
      TERMINAL,
      [
        {
          field: "evictionHard[memory.available]",
          origin: `/etc/kubernetes/${"kubelet.d/".repeat(8)}50-own.conf:123:45`,
          value: { [`${"x".repeat(30)}.available`]: "100Mi" },
        },
      ],
      "",
    ),
  ],
  [
    "config --diff",
    diffText(
      TERMINAL,
      [{ field: "staticPodPath", here: "/a/".repeat(40), there: "/b/".repeat(40) }],
      "/etc/".repeat(20),
    ),
  ],
  [
    "status",
    statusText(
      TERMINAL,
      node({}, { threads: [{ ...thread("secure-server"), operation: { name: "o".repeat(60), forMs: 123_456 } }] }),
      [seen(broken), seen(well)],
      problemsOf(node()),
    ),
  ],
  [
    "top",
    topText(
      TERMINAL,
      {
        node: { nodeName: "node-17", ...usage },
        pods: [
          { podRef: { name: LONG, namespace: NAMESPACE }, ...usage, containers: [{ name: "c".repeat(63), ...usage }] },
        ],
      },
      { containers: true },
    ),
  ],
  [
    "timeline",
    timelineText(
      TERMINAL,
      timeline({
        namespace: NAMESPACE,
        name: LONG,
        stagesDropped: 3,
        stages: [{ stage: "pull-image", container: "c".repeat(63), startedAt: NOW, endedAt: NOW + 9e6, error: ERROR }],
      }),
      NOW + 9e6,
    ),
  ],
  ["examples of the help", examplesText()],
];

/** Commands with sentences beside their table. */
const PROSE = new Set(["devices", "status", "timeline"]);

function thread(called: string) {
  return { name: called, state: "running" as const, starts: 1, lastTickMs: 3, loopDelayMaxMs: 5, queued: 0 };
}

describe("in a terminal of 80 columns", () => {
  for (const [command, text] of TABLES) {
    test(`${command}: no line is longer`, () => {
      const long = text.split("\n").filter((line) => line.length > 80);
      // In prose, a name or path stays whole, so that it can be copied.
      const whole = (line: string): boolean => PROSE.has(command) && line.split(" ").some((word) => word.length > 70);
      deepEqual(
        long.filter((line) => !whole(line)),
        [],
      );
      ok(text.split("\n").length > 2);
    });
  }

  test("sentences that do not fit stand below their row, folded between words", () => {
    const message = "the server /srv/share of nas1 does not respond: see its log, and the log of the kubelet";
    const lines = eventsText(TERMINAL, [event("FailedMount", message)], NOW).split("\n");
    match(lines[0] ?? "", /^LAST +TYPE +COUNT +REASON +OBJECT$/);
    match(lines[1] ?? "", /^2s ago +Warning +1 +FailedMount +pod\/web$/);
    const below = lines.slice(2, -1);
    ok(below.length > 1 && below.every((line) => line.startsWith("    ")));
    equal(below.map((line) => line.trim()).join(" "), message);
  });

  test("where all sentences fit, they stand in their column", () => {
    match(eventsText(TERMINAL, [event("Pulled", "done")], NOW), /OBJECT +MESSAGE\n.* pod\/web +done\n$/);
  });

  test("a word that is longer than its column is divided after a separator", () => {
    const text = table([{ title: "A", text: (row: string) => row }], ["alpha-beta/gamma-delta.example"], 20);
    deepEqual(text.split("\n"), ["A", "alpha-beta/", "gamma-delta.example", ""]);
  });
});

describe("in a terminal of 40 columns", () => {
  const narrow = { ...TERMINAL, columns: 40 };

  test("rows become lists, because words of the table would be broken", () => {
    const lines = podTable(narrow, [well], NOW).split("\n");
    deepEqual(
      lines.map((line) => line.split(/ +/)[0]),
      ["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", ""],
    );
    match(lines[3] ?? "", /^STATUS +Running$/);
  });

  test("a long name is folded, and no line is longer than the terminal", () => {
    const text = podTable(narrow, [broken, well], NOW);
    deepEqual(
      text.split("\n").filter((line) => line.length > 40),
      [],
    );
    match(text, /^STATUS +CreateContainerConfigError$|^STATUS +CreateContainerConfi\n +gError$/m);
    ok(text.includes("\n\nNAMESPACE"), "a blank line stands between two rows");
  });
});

test("without a terminal each row is one line", () => {
  const text = eventsText(PLAIN, [event("FailedMount", ERROR)], NOW);
  equal(text.split("\n").length, 3);
  match(text, new RegExp(`timed out$`, "m"));
  match(podTable(PLAIN, [broken], NOW), new RegExp(`^${NAMESPACE} +${LONG.replaceAll(".", "\\.")} `, "m"));
});
