// Faults that are put into the agent on purpose. Each must be found within the seeds of
// `npm run simulate -- --mutants`.

import type { Mutant } from "./driver/mutant.js";

const DEVICES = "src/main/resources/devices";
const CPUS = "src/main/resources/cpu-manager";
const EVICTION = "src/workers/eviction";
const PLAN = "src/main/pods/planner";
const STATUS = "src/main/pods/status";
const SYNC = "src/main/pods/sync";
const OBJECTS = "src/main/cluster/objects";
const VOLUMES = "src/main/volumes";

export const MUTANTS: readonly Mutant[] = [
  {
    name: "grace period is half as long",
    file: "src/main/model/container-stop.ts",
    text: "Math.ceil((deadline - now) / 1000)",
    replacement: "Math.floor((deadline - now) / 2000)",
  },
  {
    name: "grace period is given twice",
    file: "src/main/model/container-stop.ts",
    text: "Math.ceil((deadline - now) / 1000)",
    replacement: "Math.ceil((deadline - now) / 500) + 12",
  },
  {
    name: "sandboxes of removed pods are kept",
    file: `${PLAN}/plan-termination.ts`,
    text: "if (observed.sandboxes.length > 0) {",
    replacement: "if (observed.sandboxes.length > 1) {",
  },
  {
    name: "clean-up of removed pods is left out",
    file: `${PLAN}/plan-termination.ts`,
    text: '  if (!input.cleaned) return [{ kind: "clean-up" }];\n',
    replacement: "",
  },
  {
    name: "ready sandboxes of ended pods run on",
    file: `${PLAN}/plan-termination.ts`,
    text: "return ready.map((sandbox) =>",
    replacement: "return ready.slice(1).map((sandbox) =>",
  },
  {
    name: "success of a liveness probe kills",
    file: `${PLAN}/kill-reason.ts`,
    text: 'probes.liveness(id) === "Failure"',
    replacement: 'probes.liveness(id) === "Success"',
  },
  {
    name: "a failed liveness probe is ignored",
    file: `${PLAN}/kill-reason.ts`,
    text: 'livenessProbe !== undefined && probes.liveness(id) === "Failure"',
    replacement: "false as boolean && livenessProbe !== undefined",
  },
  {
    name: "every definition counts as changed",
    file: `${PLAN}/kill-reason.ts`,
    text: "if (definitionChanged(container, status)) {",
    replacement: "if (!definitionChanged(container, status)) {",
  },
  {
    name: "restarts are counted twice",
    file: `${PLAN}/plan-builder.ts`,
    text: "restartCountOf(previous) + 1",
    replacement: "restartCountOf(previous) + 2",
  },
  {
    name: "restarts are not counted",
    file: `${PLAN}/plan-builder.ts`,
    text: "restartCountOf(previous) + 1",
    replacement: "restartCountOf(previous)",
  },
  {
    name: "a temporary file is not synced before its rename",
    file: "src/shared/io/fs/atomic-write.ts",
    text: "      if (durable) await file.sync();\n",
    replacement: "",
  },
  {
    name: "a state file is written in place",
    file: "src/shared/io/fs/atomic-write.ts",
    text: "await file.writeFile(data);",
    replacement: "await file.writeFile(data); await (await open(path, 'w')).writeFile(data);",
  },
  {
    name: "the object of a terminated pod is not deleted",
    file: `${STATUS}/delete-object.ts`,
    text: "await client.delete(PODS, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid }, signal });",
    replacement: "await Promise.resolve([client, namespace, name, signal]);",
  },
  {
    name: "a lost answer to a deletion counts as done",
    file: `${STATUS}/delete-object.ts`,
    text: "if (!isNotFound(error) && !isConflict(error)) throw error;",
    replacement: "if (!isNotFound(error) && !isConflict(error)) return;",
  },
  {
    name: "pods start before the first relist is complete",
    file: `${SYNC}/pod-cache.ts`,
    text: "return this.unseen?.size === 0;",
    replacement: "return true;",
  },
  {
    name: "the record of a termination is not written",
    file: `${SYNC}/pod-records.ts`,
    text: "this.put({ ...known, termination, clockOffset: this.clockOffset() });",
    replacement: "this.records.set(uid, { ...known, clockOffset: this.clockOffset() });",
  },
  {
    name: "the final status is not recorded",
    file: `${SYNC}/pod-records.ts`,
    text: "    this.put({ ...known, finalStatus });",
    replacement: "",
  },
  {
    name: "a stop is not repeated after an error",
    file: "src/main/containers/runtime/kill-container.ts",
    text: "if (!(error instanceof CriNotFoundError)) throw error;",
    replacement: "if (!(error instanceof CriNotFoundError)) return;",
  },
  {
    name: "running containers are stopped with their sandbox only",
    file: `${PLAN}/plan-termination.ts`,
    text: "return state !== ContainerState.CONTAINER_EXITED;",
    replacement: "return state === ContainerState.CONTAINER_CREATED;",
  },
  {
    name: "the restart count of a status starts anew",
    file: `${STATUS}/container-status.ts`,
    text: "status.restartCount = previous.restartCount;",
    replacement: "status.restartCount = 0;",
  },
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
    name: "an image that a secret has pulled is for every pod",
    file: "src/main/containers/images/pull-records/recorded-access.ts",
    text: "if (known.nodePodsAccessible === true)",
    replacement: "if (known.nodePodsAccessible !== false)",
  },
  {
    name: "the intent of a pull is not written",
    file: "src/main/containers/images/pull-records/recorded-access.ts",
    text: "await this.intents.write(image, intentText({ image }));",
    replacement: "await Promise.resolve(intentText({ image }));",
  },
  {
    name: "credentials are kept by the name of an account",
    file: "src/main/containers/images/credential-providers/cache-key.ts",
    text: "const key = [namespace, name, uid, sorted];",
    replacement: 'const key = [namespace === "" && uid, name, sorted];',
  },
  {
    name: "an image is for each account of that name",
    file: "src/main/containers/images/pull-records/record.ts",
    text: "return a.uid === b.uid && a.namespace === b.namespace && a.name === b.name;",
    replacement: "return a.name === b.name;",
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
  {
    name: "the pod that uses least is evicted",
    file: `${EVICTION}/rank.ts`,
    text: "b.used - b.requested - (a.used - a.requested) ||",
    replacement: "a.used - a.requested - (b.used - b.requested) ||",
  },
  {
    name: "pods are evicted beside each other",
    file: `${EVICTION}/orders.ts`,
    text: "return now < this.settledAt || [...this.orders.values()].some(({ until }) => now < until);",
    replacement: "return now < this.settledAt;",
  },
  {
    name: "a pressure holds for ever",
    file: `${EVICTION}/judge.ts`,
    text: "(at === now || now - at < transitionPeriodMs)",
    replacement: "(at === now || now - at < transitionPeriodMs + 1e9)",
  },
  {
    name: "static pods are ordered away",
    file: `${EVICTION}/pod-store.ts`,
    text: "this.all().filter(({ critical }) => !critical)",
    replacement: "this.all()",
  },
  {
    name: "memory that is free counts as used",
    file: `${EVICTION}/observe.ts`,
    text: "Math.max(0, room.capacity - room.workingSet)",
    replacement: "Math.max(0, room.capacity - 8 * room.workingSet)",
  },
  {
    name: "unused images stay while pods are evicted for a disk",
    file: `${EVICTION}/disk-relief.ts`,
    text: "for (const way of ways) {",
    replacement: 'for (const way of ways.filter((one) => one !== "images")) {',
  },
  {
    name: "a disk is not measured again after images were removed",
    file: `${EVICTION}/disk-relief.ts`,
    text: ".every(({ signal }) => !isDisk(signal))) {",
    replacement: ".length < 0) {",
  },
  {
    name: "images from before the kubelet are young",
    file: "src/shared/contracts/image-gc.ts",
    text: "NEVER = -Infinity",
    replacement: "NEVER = 0",
  },
  {
    name: "volumes in memory take up the disk",
    file: `${EVICTION}/pod-storage.ts`,
    text: "apart !== true && !inMemory.has(name)",
    replacement: 'apart !== true || name !== "" || !inMemory.has(name)',
  },
  {
    name: "soft thresholds have no grace period",
    file: `${EVICTION}/judge.ts`,
    text: ">= each.graceMs,",
    replacement: ">= 0 * each.graceMs,",
  },
  {
    name: "a soft threshold gives the pod its own grace period",
    file: `${EVICTION}/outbox.ts`,
    text: "return most < 0 ?",
    replacement: "return most < 1000 ?",
  },
  {
    name: "evictions end before the minimum reclaim",
    file: `${EVICTION}/judge.ts`,
    text: "metOf(driven, observations, true)",
    replacement: "metOf(driven, observations, false)",
  },
  {
    name: "a pressure ends with its shortage",
    file: `${EVICTION}/judge.ts`,
    text: "(at === now || now - at < transitionPeriodMs)",
    replacement: "at === now",
  },
  {
    name: "the pod with the fewest processes is evicted",
    file: `${EVICTION}/rank.ts`,
    text: "(b.used ?? 0) - (a.used ?? 0)",
    replacement: "(a.used ?? 0) - (b.used ?? 0)",
  },
  {
    name: "a volume may have eight times its limit",
    file: `${EVICTION}/breach.ts`,
    text: "if (exceeds(used.bytes, sizeLimit))",
    replacement: "if (exceeds(used.bytes / 8, sizeLimit))",
  },
  {
    name: "the layers of a pod count for each of its containers",
    file: `${EVICTION}/breach.ts`,
    text: "exceeds(logs + (layersCount ? layer : 0), limit)",
    replacement: "exceeds(logs + (layersCount ? storage.total.bytes : 0), limit)",
  },
  {
    name: "a gRPC server that is not serving is healthy",
    file: "src/workers/peers/grpc.ts",
    text: "if (status === SERVING)",
    replacement: "if (status >= SERVING)",
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
