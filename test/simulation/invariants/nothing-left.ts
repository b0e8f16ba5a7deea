// Volumes of running pods stay; of pods that are gone no folder, mount or sandbox is left behind.

import { PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { disk } from "../disk/machine-disk.js";
import { ROOT } from "../world/machine-files.js";
import { podNameOf } from "../world/pod-facts.js";
import type { World } from "../world/world.js";
import type { Broken, Invariant } from "./invariant.js";

export const nothingLeft: Invariant = {
  name: "nothing of a removed pod is left behind",
  promisedBy: "docs/adr/0013-ends-of-pods.md",
  watch: (world, broken) => () => {
    const { known, running } = checkSandboxes(world, broken);
    const folder = disk.tree.lookUp(`${ROOT}/pods`, "readdir");
    const wanted = world.facts.wanted.length;
    for (const uid of folder.entries.keys()) {
      if (!known.has(uid) && folder.entries.size > wanted) broken(`the folder of the removed pod ${uid} is left`);
    }
    for (const { target } of disk.tree.mounts) {
      const uid = /\/pods\/([^/]+)\//.exec(target)?.[1];
      if (uid !== undefined && !known.has(uid)) broken(`the mount ${target} of a removed pod is left`);
    }
    for (const uid of running) if (!folder.entries.has(uid)) broken(`the folder of the running pod ${uid} is gone`);
  },
};

/** UIDs of wanted pods with a sandbox, and of those whose sandbox runs. */
function checkSandboxes({ facts, runtime }: World, broken: Broken): { known: Set<string>; running: Set<string> } {
  const known = new Set<string>();
  const running = new Set<string>();
  for (const { config, status } of runtime.state.sandboxes.values()) {
    const name = podNameOf(config.labels);
    const uid = config.labels["io.kubernetes.pod.uid"] ?? "";
    if (!facts.pods.has(name)) broken(`sandbox ${status.id} of the removed pod is left`, name);
    known.add(uid);
    if (status.state === PodSandboxState.SANDBOX_READY) running.add(uid);
  }
  return { known, running };
}
