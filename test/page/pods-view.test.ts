// The list of pods: order, filter, sorting, usage against limits, links in the banner.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { VNode } from "../../src/page/dom/vnode.js";
import { headView } from "../../src/page/views/head.js";
import { podRow, type PodRow } from "../../src/page/views/pod-rows.js";
import { podsView } from "../../src/page/views/pods.js";
import type { Usage } from "../../src/shared/contracts/status-page.js";
import type { Pod } from "../../src/shared/kubernetes/api/pod.js";
import { containerStatus, NOW, node, pod, RUNNING, seen } from "../cli/kit.js";
import { all, rowsOf, textOf } from "../support/vnodes.js";

const MIB = 2 ** 20;

function podIn(state: "good" | "bad" | "warn", name: string, namespace = "default"): Pod {
  const reason = state === "bad" ? "CrashLoopBackOff" : "ContainerCreating";
  const one = pod(
    {
      phase: "Running",
      podIPs: [{ ip: `10.0.0.${name.length}` }],
      containerStatuses: [
        state === "good"
          ? containerStatus(RUNNING, { ready: true, started: true })
          : containerStatus({ waiting: { reason } }, { restartCount: name.length }),
      ],
    },
    {},
    name,
  );
  return { ...one, metadata: { ...one.metadata, namespace } };
}

const PODS = [podIn("good", "a"), podIn("warn", "bb"), podIn("bad", "cccc"), podIn("bad", "ddd", "another")];

function view(rows: readonly PodRow[], filter = "", by = ""): VNode {
  return podsView({
    ...{ rows, filter, now: NOW },
    onFilter: () => undefined,
    sorting: { by, onSort: () => undefined },
  });
}

const rows = PODS.map((one) => podRow(seen(one), undefined));
const names = (shown: VNode): string[] => all(shown, "a").map(textOf);

test("broken pods come first, then those on their way, each by namespace and name", () => {
  assert.deepEqual(names(view(rows)), ["ddd", "cccc", "bb", "a"]);
});

test("a column sorts in both orders", () => {
  assert.deepEqual(names(view(rows, "", "Name")), ["a", "bb", "cccc", "ddd"]);
  assert.deepEqual(names(view(rows, "", "-Restarts")), ["cccc", "ddd", "bb", "a"]);
  assert.deepEqual(names(view(rows, "", "Unknown")), names(view(rows)));
  const sorted = all(view(rows, "", "-Restarts"), "th").map(({ props }) => props["aria-sort"]);
  assert.ok(sorted.includes("descending"));
});

test("a click on a heading goes from one order to the other, and back to the list's own", () => {
  const chosen: string[] = [];
  for (const by of ["", "Name", "-Name"]) {
    const shown = podsView({
      ...{ rows, filter: "", now: NOW },
      onFilter: () => undefined,
      sorting: { by, onSort: (next) => chosen.push(next) },
    });
    all(shown, "button")[0]?.props.on?.["click"]?.({} as Event);
  }
  assert.deepEqual(chosen, ["Name", "-Name", ""]);
});

test("the filter finds name, namespace, state and address", () => {
  assert.deepEqual(names(view(rows, "CCC")), ["cccc"]);
  assert.deepEqual(names(view(rows, "another/")), ["ddd"]);
  assert.deepEqual(names(view(rows, "creating")), ["bb"]);
  assert.deepEqual(names(view(rows, "10.0.0.1")), ["a"]);
  assert.match(textOf(view(rows, "zzz")), /No pod matches the filter/);
  assert.match(textOf(view([])), /This node has no pods/);
});

test("usage stands beside the limit; a pod of which a container has no limit has none", () => {
  const limited = (limits: Record<string, string>) => ({ name: "app", image: "i", resources: { limits } });
  const usage = { cpu: 0.25, memory: 118 * MIB };
  const cells = (one: Pod): string[] => rowsOf(view([podRow(seen(one), usage)]))[0]?.slice(5, 7) ?? [];
  assert.deepEqual(cells(pod({}, { containers: [limited({ cpu: "500m", memory: "256Mi" })] })), [
    "250m of 500m",
    "118 MiB of 256 MiB",
  ]);
  assert.deepEqual(cells(pod({}, { containers: [limited({ cpu: "1" }), { name: "other" }] })), ["250m", "118 MiB"]);
  assert.deepEqual(
    cells(pod({}, { containers: [limited({}), limited({})], resources: { limits: { cpu: "2", memory: "1Gi" } } })),
    ["250m of 2000m", "118 MiB of 1.0 GiB"],
  );
  assert.deepEqual(cells(pod({}, { containers: [limited({ cpu: "nonsense" })] })), ["250m", "118 MiB"]);
});

test("a row is made again only when its pod, its usage or its age has changed", () => {
  const bodyRows = (usage: Usage | undefined, now: number): unknown[] => {
    const shown = podsView({
      ...{ rows: [podRow(seen(PODS[0]!), usage)], filter: "", now },
      onFilter: () => undefined,
      sorting: { by: "", onSort: () => undefined },
    });
    return [...(all(shown, "tbody")[0]?.children ?? [])];
  };
  const usage = { cpu: 1 };
  const [first] = bodyRows(usage, NOW);
  assert.equal(bodyRows(usage, NOW)[0], first);
  assert.notEqual(bodyRows(usage, NOW + 60_000)[0], first);
  assert.notEqual(bodyRows({ cpu: 2 }, NOW)[0], first);
});

test("a row that is no pod needs no view of its own", () => {
  const row: PodRow = {
    ...{ key: "manifest", name: "web.yaml", namespace: "default", ready: 0, containers: 0, restarts: 0 },
    ...{ state: { word: "InvalidManifest", tone: "bad" as const }, limits: {}, addresses: [] },
  };
  const shown = view([...rows, row]);
  assert.deepEqual(names(shown), ["ddd", "cccc", "bb", "a"]);
  assert.match(rowsOf(shown)[2]?.join(" ") ?? "", /^web\.yaml default default InvalidManifest 0\/0/);
});

test("the banner links three broken pods and counts the others", () => {
  const pods = Array.from({ length: 40 }, (_, index) => podIn("bad", `p${String(index).padStart(2, "0")}`));
  const head = headView({
    ...{ place: { view: "pods" }, status: node(), pods: pods.map((one) => seen(one)), now: NOW, silentMs: 0 },
    freshness: { state: "live", stale: false, heardAt: NOW },
  });
  const problems = head.find(({ props }) => props.class === "problems");
  assert.ok(problems);
  assert.match(textOf(problems), /40 of 40 pods have problems.*and 37 more/s);
  assert.deepEqual(
    all(problems, "a").map(({ props }) => props["href"]),
    ["#/pods", "#/pods/default/p00", "#/pods/default/p01", "#/pods/default/p02"],
  );
});

test("old data do not count as a healthy node", () => {
  const shown = (stale: boolean): string =>
    headView({
      ...{ place: { view: "pods" }, status: node(), pods: [], now: NOW, silentMs: 14_000 },
      freshness: { state: stale ? "silent" : "live", stale, heardAt: NOW },
    })
      .map(textOf)
      .join(" ");
  assert.match(shown(false), /live.*nothing is wrong/s);
  assert.match(shown(true), /No data for 14s.*as it was at 2026-01-02 03:04:05Z.*nothing was wrong then/s);
  assert.doesNotMatch(shown(true), /nothing is wrong/);
});
