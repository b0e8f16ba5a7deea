// Faults in volumes: those of CSI drivers, and files of ConfigMaps and Secrets.

import type { Mutant } from "../driver/mutant.js";

const OBJECTS = "src/main/cluster/objects";
const VOLUMES = "src/main/volumes";

export const VOLUME_MUTANTS: readonly Mutant[] = [
  {
    name: "a CSI volume is unstaged with its first pod",
    file: "src/main/volumes/csi/staging.ts",
    text: "    device.users.delete(user);",
    replacement: "    device.users.clear();",
  },
  {
    name: "a CSI volume stays staged after its last pod",
    file: "src/main/volumes/csi/staging.ts",
    text: "if (device.users.size === 0) this.unstageLater(key);",
    replacement: "if (device.users.size > 0) this.unstageLater(key);",
  },
  {
    name: "a CSI volume does not grow while pods use it",
    file: "src/main/volumes/persistent/expand.ts",
    text: "if (!(await expander.can(signal))) return;",
    replacement: "if (online || !(await expander.can(signal))) return;",
  },
  {
    name: "a CSI volume is expanded once more",
    file: "src/main/volumes/persistent/expand.ts",
    text: "      this.sizes.set(key, growth.size);\n",
    replacement: "",
  },
  {
    name: "a size that the driver refuses is tried again",
    file: "src/main/volumes/persistent/expand.ts",
    text: "new Set([STATUS.INVALID_ARGUMENT, STATUS.OUT_OF_RANGE, STATUS.NOT_FOUND])",
    replacement: "new Set([STATUS.NOT_FOUND])",
  },
  {
    name: "a claim does not show that its size is refused",
    file: "src/main/volumes/persistent/expansion-rules.ts",
    text: "infeasible ? {",
    replacement: 'infeasible && now === "" ? {',
  },
  {
    name: "a size that is refused for a while is refused for ever",
    file: "src/main/volumes/persistent/expand.ts",
    text: "      this.vain.delete(key);\n",
    replacement: "",
  },
  {
    name: "a volume in use is expanded again and again",
    file: "src/main/volumes/persistent/expand.ts",
    text: "error.code === STATUS.FAILED_PRECONDITION;",
    replacement: "error.code === STATUS.NOT_FOUND;",
  },
  {
    name: "a volume for one pod is for every pod",
    file: "src/main/volumes/csi/with-device.ts",
    text: 'accessModes[0] === "ReadWriteOncePod"',
    replacement: 'accessModes[1] === "ReadWriteOncePod"',
  },
  {
    name: "a CSI volume is used before it is attached",
    file: "src/main/volumes/csi/attach.ts",
    text: "if (problem === undefined) return",
    replacement: 'if (problem !== "") return',
  },
  {
    name: "a CSI volume is forgotten before it is unstaged",
    file: "src/main/volumes/csi/staging.ts",
    text: "if (device === undefined || device.users.size > 0) return;\n",
    replacement: "if (device === undefined || device.users.size > 0) return;\n    await this.onGone(device);\n",
  },
  {
    name: "the files of a volume that containers see are removed",
    file: `${VOLUMES}/atomic-writer/atomic-writer.ts`,
    text: "if (name !== DATA && name !== current)",
    replacement: "if (name !== DATA)",
  },
  {
    name: "a volume with as many files as before is not written",
    file: `${VOLUMES}/object-volume/object-volume.ts`,
    text: "samePayload(before, payload)) return directory;",
    replacement: "before.size === payload.size) return directory;",
  },
  {
    name: "a missing object gives an empty volume",
    file: `${VOLUMES}/object-volume/object-files.ts`,
    text: "if (optional && isNotFound(error))",
    replacement: "if (isNotFound(error))",
  },
  {
    name: "the watch of an object outlives its pods",
    file: `${OBJECTS}/watched-objects.ts`,
    text: "        this.unfollow(item);\n        this.items.delete(item.key);",
    replacement: "        this.items.delete(item.key);",
  },
  {
    name: "a change of an object makes no volume due",
    file: `${OBJECTS}/watched-objects.ts`,
    text: "if (changed && (!first || item.missed))",
    replacement: "if (changed && item.missed)",
  },
  {
    name: "an object that was read is valid for ever",
    file: `${OBJECTS}/cached-objects.ts`,
    text: "until: clock.monotonic() + ttlMs() * (1 - JITTER * random())",
    replacement: "until: Infinity",
  },
];
