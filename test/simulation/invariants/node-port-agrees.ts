// Port 10250 serves only clients with the right, and soon. /pods and /stats/summary show the pods of the node.

import { kernel } from "../kernel/kernel.js";
import type { Answered } from "../world/log-readers.js";
import { plainName } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import { isCalm } from "./calm.js";
import type { Broken, Invariant } from "./invariant.js";

const CALM_MS = 60_000;
/** A pod comes to the port, or goes from it, and its usage is measured, within this time. */
const KNOWN_MS = 60_000;
const ANSWERED_MS = 10_000;
const STATUS_OF = { nosy: 403, unknown: 401, none: 401 } as const;

export const nodePortAgrees: Invariant = {
  name: "port 10250 serves those who may, and agrees with the node",
  promisedBy: "docs/adr/0081-thread-for-port-10250.md",
  watch(world, broken) {
    world.readers?.onAnswer.add((answered) => {
      const { as, path, status } = answered;
      if (as !== "reader" && status === 200) broken(`${path} is shown to ${as}`);
      const tookMs = kernel.monotonic - answered.beganAt;
      if (!isCalm(world, CALM_MS + tookMs)) return;
      if (tookMs > ANSWERED_MS) broken(`${path} is answered after ${tookMs} ms`);
      const expected = as === "reader" ? 200 : STATUS_OF[as];
      if (status !== expected) broken(`${path} as ${as} is answered with ${status}: ${answered.body.slice(0, 200)}`);
      else if (as === "reader") checkBody(world, answered, broken);
    });
    return undefined;
  },
};

function checkBody(world: World, { path, body }: Answered, broken: Broken): void {
  if (path === "/healthz") {
    if (body !== "ok") broken(`/healthz says ${body}`);
  } else if (path === "/pods") {
    const { items } = JSON.parse(body) as { items: { metadata: { name: string }; status?: { phase?: string } }[] };
    checkPods(
      world,
      path,
      items.map(({ metadata }) => metadata.name),
      broken,
    );
  } else {
    const { pods } = JSON.parse(body) as { pods: { podRef: { name: string } }[] };
    const names = pods.map(({ podRef }) => podRef.name);
    // The usage of pods is that of their cgroups.
    checkPods(world, path, names, broken, (name) => world.node.hasPodCgroups && hasRun(world, name));
  }
}

/** @param counts whether the pod must be there; default: each one */
function checkPods(
  { facts }: World,
  path: string,
  shown: readonly string[],
  broken: Broken,
  counts: (name: string) => boolean = () => true,
): void {
  const names = new Set(shown.map(plainName));
  const now = kernel.monotonic;
  for (const [name, { createdAt, deletedAt, shape }] of facts.pods) {
    if (deletedAt === undefined && now - createdAt > KNOWN_MS && counts(name) && !names.has(name))
      broken(`${path} lacks the pod`, name);
    // A grace period, and its end.
    if (deletedAt !== undefined && now - deletedAt > KNOWN_MS + 2000 * shape.graceSeconds && names.has(name))
      broken(`${path} has the removed pod`, name);
  }
  for (const name of names) if (!facts.pods.has(name)) broken(`${path} has the removed pod`, name);
}

/** A container of the pod runs for long enough. */
function hasRun({ logs }: World, name: string): boolean {
  const runs = logs?.known() ?? [];
  return runs.some(
    ({ pod, endedAt, startedAt }) => pod === name && endedAt === undefined && kernel.monotonic - startedAt > KNOWN_MS,
  );
}
