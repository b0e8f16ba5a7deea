// The network figures of a pod: those of the network namespace of its processes.

import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { Networks } from "../../../../src/workers/server/stats/networks.js";
import type { PodReading } from "../../../../src/workers/server/stats/readings.js";
import { pod } from "../../../support/pods.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

function readingOf(spec: object): PodReading {
  const one = pod();
  return {
    place: {
      pod: { ...one, metadata: { ...one.metadata, uid: podUid("u") }, spec: { ...one.spec, ...spec } },
      path: "/k/u",
      containers: [],
      sandbox: { id: "s", path: "/k/u/s" },
    },
    reading: { path: "/k/u", at: 0 },
    containers: [],
  };
}

test("a pod in the node's network has the interfaces of its processes, as upstream", () => {
  const reader = { processes: (path: string) => (path === "/k/u/s" ? [7] : []) };
  const text = "  eth0: 1 2 3 4 0 0 0 0 5 6 7 8 0 0 0 0\n";
  const read = (path: string) => (path === "/proc/7/net/dev" ? text : undefined);
  for (const hostNetwork of [true, false]) {
    const networks = new Networks(reader, read, new SteppedClock());
    const names = networks.of(readingOf({ hostNetwork }))?.interfaces.map(({ name }) => name);
    deepEqual(names, ["eth0"], String(hostNetwork));
  }
});
