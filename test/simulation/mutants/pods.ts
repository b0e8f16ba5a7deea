// Faults in the way of a pod: planner, sync, status, probes, records.

import type { Mutant } from "../driver/mutant.js";

const PLAN = "src/main/pods/planner";
const STATUS = "src/main/pods/status";
const SYNC = "src/main/pods/sync";

export const POD_MUTANTS: readonly Mutant[] = [
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
    name: "a container whose back-off is over is shown as terminated",
    file: "src/main/pods/sync/sync-pass.ts",
    text: "plan.waiting.set(name, wait);",
    replacement: "void wait;",
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
    name: "a record that a full disk refused is not written later",
    file: `${SYNC}/pod-records.ts`,
    text: "    for (const uid of this.unsaved) if (!this.writes.has(uid)) this.save(uid);",
    replacement: "    this.unsaved.clear();",
  },
  {
    name: "a record that cannot be written ends the kubelet",
    file: `${SYNC}/pod-records.ts`,
    text: "    this.unsaved.add(uid);\n",
    replacement: "    this.unsaved.add(uid);\n    if (this.unsaved.size > 0) throw error;\n",
  },
  {
    name: "a hosts file is cut before it is written",
    file: "src/shared/io/fs/untrusted-file.ts",
    text: "constants.O_CREAT | constants.O_NOFOLLOW",
    replacement: "constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW",
  },
  {
    name: "a gRPC server that is not serving is healthy",
    file: "src/workers/peers/grpc.ts",
    text: "if (status === SERVING)",
    replacement: "if (status >= SERVING)",
  },
  {
    name: "the newest container goes if it never ran",
    file: `${PLAN}/prune-steps.ts`,
    text: "const isLast = isNewest && !started.has(name);",
    replacement: "const isLast = false;",
  },
  {
    name: "a sandbox that the runtime refused has no event",
    file: "src/main/containers/runtime/create-sandbox.ts",
    text: "    if (!signal.aborted) {",
    replacement: "    if (signal.aborted) {",
  },
  {
    name: "a container that the runtime refused has another reason",
    file: "src/main/containers/runtime/start-container.ts",
    text: 'throw startError(error, "CreateContainerError"',
    replacement: 'throw startError(error, "CreateContainerConfigError"',
  },
  {
    name: "a refused pull does not say why",
    file: "src/main/containers/images/image-puller.ts",
    text: "throw new StartContainerError(error.reason, message, until, { cause: error });",
    replacement: "throw new StartContainerError(error.reason, image, until, { cause: error });",
  },
];
