// What users do to pods of the simulated cluster: objects of the API server and manifests on the node's disk.

import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import { MEMORY, type PodShape } from "../plan/pod-shapes.js";
import { MANIFESTS } from "./machine-files.js";
import type { PodClient } from "./pod-clients.js";
import { podNameOf, type AllFacts, type PodFacts } from "./pod-facts.js";
import type { SimulatedRuntime } from "./runtime.js";

export class PodChanges {
  constructor(
    private readonly client: PodClient,
    private readonly runtime: SimulatedRuntime,
    private readonly facts: AllFacts,
  ) {}

  create(shape: PodShape): void {
    const { graceSeconds } = shape;
    // What stops a pod that had the name before is not told from what stops this one.
    const disturbed = this.facts.pods.has(shape.name) ? { disturbedAt: kernel.monotonic } : {};
    const createdAt = kernel.monotonic;
    this.facts.pods.set(shape.name, { shape, createdAt, graceSeconds, downBeforeDeletion: 0, ...disturbed });
    if (shape.isStatic) disk.file(`${MANIFESTS}/${shape.name}.json`, manifest(shape));
    else {
      this.client.create(shape, (uid) => {
        const facts = this.facts.pods.get(shape.name);
        if (facts !== undefined) facts.uid = uid;
      });
    }
  }

  edit(name: string, image: string): void {
    const facts = this.facts.pods.get(name);
    if (facts === undefined || facts.deletedAt !== undefined) return;
    const { shape } = facts;
    const [first, ...others] = shape.spec["containers"] as Record<string, unknown>[];
    if (first === undefined || first["image"] === image) return;
    const containers = [{ ...first, image }, ...others];
    facts.editedAt = kernel.monotonic;
    if (shape.isStatic) {
      shape.spec = { ...shape.spec, containers };
      disk.file(`${MANIFESTS}/${name}.json`, manifest(shape));
      return;
    }
    this.client.setImage(shape, image);
  }

  /** The kubelet resizes pods of the API server only. */
  resize(name: string, cpuMillis: number): void {
    const facts = this.facts.pods.get(name);
    if (facts === undefined || facts.deletedAt !== undefined || facts.shape.isStatic) return;
    const cpu = `${cpuMillis}m`;
    const requests = facts.shape.memory === undefined ? { cpu, memory: MEMORY } : { cpu };
    if (facts.shape.cpus === undefined) {
      this.client.resize(facts.shape, { requests }, () => {
        facts.cpuMillis = cpuMillis;
      });
    } else if (this.hasRun(name)) {
      // Where pods have CPUs of their own, a Guaranteed pod keeps those with which it was admitted.
      this.client.resize(facts.shape, { requests, limits: requests }, () => undefined);
    }
  }

  private hasRun(name: string): boolean {
    return [...this.runtime.state.containers.values()].some(({ config }) => podNameOf(config.labels) === name);
  }

  remove(name: string, graceSeconds: number | undefined): void {
    const facts = this.facts.pods.get(name);
    if (facts === undefined || facts.deletedAt !== undefined) return;
    if (facts.shape.isStatic) {
      this.deleted(facts);
      disk.tree.unlink(`${MANIFESTS}/${name}.json`);
      disk.tree.lookUp(MANIFESTS, "fsync").sync();
      return;
    }
    const grace = graceSeconds ?? facts.shape.graceSeconds;
    this.client.remove(facts.shape, grace, () => {
      this.deleted(facts);
      facts.graceSeconds = grace;
    });
  }

  removeByForce(name: string): void {
    const facts = this.facts.pods.get(name);
    if (facts === undefined) return;
    this.client.remove(facts.shape, 0, () => {
      facts.deletedAt ??= kernel.monotonic;
      facts.graceSeconds = 0;
    });
  }

  /** @param name of a static pod */
  removeMirror(name: string, graceSeconds: number): void {
    this.client.removeMirror(name, graceSeconds);
  }

  private deleted(facts: PodFacts): void {
    facts.deletedAt = kernel.monotonic;
    facts.downBeforeDeletion = this.facts.downAt(kernel.monotonic);
  }
}

function manifest({ name, uid, spec }: PodShape): string {
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default", uid }, spec });
}
