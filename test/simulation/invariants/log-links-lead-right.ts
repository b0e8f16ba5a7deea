// Links in /var/log/containers lead to the logs of their containers, and a container that has started has one. Links
// and log folders of removed pods go.

import { ContainerEventType } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import { CONTAINER_LOGS, LOGS } from "../world/machine-files.js";
import { plainName } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import { isCalm } from "./calm.js";
import type { Broken, Invariant } from "./invariant.js";

/** POD_NAMESPACE_CONTAINER-ID.log */
const LINK = /^([^_]+)_[^_]+_.+-([0-9a-f]{64})\.log$/;
const CALM_MS = 60_000;
/** A link is made soon after the start. */
const LINKED_MS = 5000;

export const logLinksLeadRight: Invariant = {
  name: "links and folders of logs are those of containers",
  promisedBy: "docs/adr/0013-ends-of-pods.md",
  watch(world, broken) {
    const { logs, runtime } = world;
    if (logs === undefined) return undefined;
    runtime.state.eventListeners.add(({ containerId, containerEventType }) => {
      if (containerEventType !== ContainerEventType.CONTAINER_STARTED_EVENT || !isCalm(world, CALM_MS)) return;
      kernel.after(kernel.world, LINKED_MS, () => checkLinked(world, containerId, broken));
    });
    return () => {
      for (const [name, { target }] of disk.tree.lookUp(CONTAINER_LOGS, "readdir").entries)
        checkLink(world, name, target, broken);
      for (const name of disk.tree.lookUp(LOGS, "readdir").entries.keys()) {
        const pod = plainName(name.split("_")[1] ?? "");
        if (!world.facts.pods.has(pod)) broken(`the log folder ${name} of the removed pod is left`, pod);
      }
    };
  },
};

function checkLink({ facts, logs }: World, name: string, target: string, broken: Broken): void {
  const [, pod = "", id = ""] = LINK.exec(name) ?? [];
  const owner = plainName(pod);
  if (!facts.pods.has(owner)) broken(`the link ${name} of the removed pod is left`, owner);
  const run = logs?.known().find((one) => one.id === id);
  if (run !== undefined && run.path !== target) broken(`the link ${name} leads to ${target}`, owner);
}

/** Nothing else happened meanwhile. */
function checkLinked(world: World, id: string, broken: Broken): void {
  const run = world.logs?.known().find((one) => one.id === id);
  const pod = world.facts.pods.get(run?.pod ?? "");
  if (run === undefined || pod === undefined || pod.deletedAt !== undefined || !isCalm(world, CALM_MS)) return;
  const names = [...disk.tree.lookUp(CONTAINER_LOGS, "readdir").entries.keys()];
  if (!names.some((name) => name.includes(id))) broken(`${run.container} has no link to its log`, run.pod);
}
