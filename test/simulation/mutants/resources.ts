// Faults in resources that are given once: CPUs, memory, devices, claims of DRA drivers, ids, cgroups, ports.

import type { Mutant } from "../driver/mutant.js";

const DEVICES = "src/main/resources/devices";
const CPUS = "src/main/resources/cpu-manager";

export const RESOURCE_MUTANTS: readonly Mutant[] = [
  {
    name: "CPUs of a terminating pod are free",
    file: `${CPUS}/static-cpu-manager.ts`,
    text: "    for (const uid of [...this.known]) if (!now.has(uid)) this.release(uid);",
    replacement:
      "    for (const { metadata } of this.pods()) if (metadata.deletionTimestamp !== undefined) now.delete(metadata.uid);\n" +
      "    for (const uid of [...this.known]) if (!now.has(uid)) this.release(uid);",
  },
  {
    name: "CPUs of pods without a record are free",
    file: `${CPUS}/static-cpu-manager.ts`,
    text: "if (!alive.has(uid)) this.unnamed.add(uid);",
    replacement: "if (!alive.has(uid)) this.policy.state.release(uid);",
  },
  {
    name: "the kept CPUs are not read",
    file: `${CPUS}/static-cpu-manager.ts`,
    text: "kept.shared.size > 0 || kept.exclusive.size > 0",
    replacement: "kept.shared.size === 0 && kept.exclusive.size > 0",
  },
  {
    name: "CPUs are not on disk before the pod runs",
    file: `${CPUS}/static-cpu-manager.ts`,
    text: "      this.changed();\n      await this.saves.written();",
    replacement: "      this.changed();",
  },
  {
    name: "shared containers are moved once only",
    file: `${CPUS}/reconciler.ts`,
    text: 'if (this.applied.get(id) === cpus || cpus === "") return true;',
    replacement: 'if (this.applied.has(id) || cpus === "") return true;',
  },
  {
    name: "CPUs of ended pods do not come back",
    file: `${CPUS}/state.ts`,
    text: "    this.shared = union(this.shared, cpus);\n    return true;",
    replacement: "    return cpus.size > 0;",
  },
  {
    name: "devices of one pod count as free",
    file: `${DEVICES}/granted-devices.ts`,
    text: "new Set([...this.pods.keys()].flatMap(",
    replacement: "new Set([...this.pods.keys()].slice(1).flatMap(",
  },
  {
    name: "what a device plugin prefers is left out",
    file: `${DEVICES}/choose-devices.ts`,
    text: "const preference = (preferred ?? []).filter((id) => offered.has(id));",
    replacement: 'const preference = (preferred ?? []).filter((id) => id === "" && offered.has(id));',
  },
  {
    name: "one entry of the device checkpoint is not read",
    file: `${DEVICES}/device-manager.ts`,
    text: "for (const entry of content.entries) this.granted.put(entry);",
    replacement: "for (const entry of content.entries.slice(1)) this.granted.put(entry);",
  },
  {
    name: "devices are not on disk before the pod runs",
    file: `${DEVICES}/device-manager.ts`,
    text: "      signal.throwIfAborted();\n      await this.file.save();",
    replacement: "      signal.throwIfAborted();",
  },
  {
    name: "the user ids of one pod are not read",
    file: "src/main/containers/user-namespaces/user-namespaces.ts",
    text: "for (const uid of await podUids(rootDir)) await this.readOne(uid);",
    replacement: "for (const uid of (await podUids(rootDir)).slice(1)) await this.readOne(uid);",
  },
  {
    name: "host ports of every address are free",
    file: "src/main/pods/admission/predicates/host-ports.ts",
    text: "return ip === EVERY_ADDRESS || taken.has(ip) || taken.has(EVERY_ADDRESS);",
    replacement: "return ip !== EVERY_ADDRESS && taken.has(ip);",
  },
  {
    name: "the memory of one pod is not read",
    file: "src/main/resources/memory-manager/memory-assignments.ts",
    text: "of entries.filter(([uid]) => wanted(uid))) {",
    replacement: "of entries.filter(([uid]) => wanted(uid)).slice(1)) {",
  },
  {
    name: "the cgroup of a removed pod is kept",
    file: "src/main/resources/cgroups/cgroup-manager.ts",
    text: "Promise.all(places.map((name) => removeCgroup(",
    replacement: "Promise.all(places.slice(1).map((name) => removeCgroup(",
  },
  {
    name: "a pod with its cgroup counts as lost",
    file: "src/main/resources/cgroups/cgroup-manager.ts",
    text: "if ((await this.tree.missing(name)).length === 0) return false;",
    replacement: "if ((await this.tree.missing(name)).length === 0) return true;",
  },
  {
    name: "a change of a device's health is not shown",
    file: "src/main/resources/dra/device-health.ts",
    text: "if (!isSame(devices.get(key), report)) changed.push(report);",
    replacement: "if (!devices.has(key)) changed.push(report);",
  },
  {
    name: "the health of a silent driver holds for ever",
    file: "src/main/resources/dra/device-health.ts",
    text: "return this.options.clock.steady() - reportedAt >= timeoutMs;",
    replacement: "return this.options.clock.steady() - reportedAt >= timeoutMs + 1e9;",
  },
  {
    name: "a claim is unprepared with its first pod",
    file: "src/main/resources/dra/claims.ts",
    text: "pods.size === 1",
    replacement: "pods.size >= 1",
  },
  {
    name: "claims of the checkpoint count as prepared",
    file: "src/main/resources/dra/checkpoint.ts",
    text: "prepared: false,",
    replacement: "prepared: true,",
  },
  {
    name: "claims are not on disk before they are prepared",
    file: "src/main/resources/dra/claims.ts",
    text: "    await store.save();\n    const open",
    replacement: "    const open",
  },
];
