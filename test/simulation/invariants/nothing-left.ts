// Volumes of running pods stay; of pods that are gone no folder, mount or sandbox is left behind.

import { PodSandboxState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { disk } from "../disk/machine-disk.js";
import { ROOT } from "../world/machine-files.js";
import { podNameOf } from "../world/world.js";
import type { Invariant } from "./invariant.js";

export const nothingLeft: Invariant = {
  name: "nothing of a removed pod is left behind",
  promisedBy: "docs/adr/0013-ends-of-pods.md",
  watch:
    ({ facts, runtime }, broken) =>
    () => {
      const uids = new Set<string>();
      for (const { config, status } of runtime.state.sandboxes.values()) {
        const name = podNameOf(config.labels);
        if (facts.pods.has(name)) uids.add(config.labels["io.kubernetes.pod.uid"] ?? "");
        else if (status.state === PodSandboxState.SANDBOX_READY) broken("a sandbox of the removed pod is ready", name);
        else broken("a sandbox of the removed pod is left", name);
      }
      const folder = disk.tree.lookUp(`${ROOT}/pods`, "readdir");
      const steady = facts.wanted.length;
      for (const uid of folder.entries.keys()) {
        if (!uids.has(uid) && folder.entries.size > steady) broken(`the folder of the removed pod ${uid} is left`);
      }
      for (const { target } of disk.tree.mounts) {
        const uid = /\/pods\/([^/]+)\//.exec(target)?.[1] ?? "";
        if (!uids.has(uid)) broken(`the mount ${target} of a removed pod is left`);
      }
      for (const uid of uids) {
        if (!folder.entries.has(uid)) broken(`the folder of the running pod ${uid} is gone`);
      }
    },
};
