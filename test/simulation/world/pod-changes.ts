// What users do to pods of the simulated cluster: objects of the API server and manifests on the node's disk.

import { disk } from "../disk/machine-disk.js";
import { kernel } from "../kernel/kernel.js";
import { MEMORY, namespaceOf, type PodShape } from "../plan/pod-shapes.js";
import { NODE_NAME, type SimulatedApi } from "./api.js";
import { MANIFESTS } from "./machine-files.js";
import { podNameOf, type AllFacts } from "./pod-facts.js";
import type { SimulatedRuntime } from "./runtime.js";

export class PodChanges {
  constructor(
    private readonly api: SimulatedApi,
    private readonly runtime: SimulatedRuntime,
    private readonly facts: AllFacts,
  ) {}

  create(shape: PodShape): void {
    const { graceSeconds } = shape;
    // What stops a pod that had the name before is not told from what stops this one.
    const disturbed = this.facts.pods.has(shape.name) ? { disturbedAt: kernel.monotonic } : {};
    const createdAt = kernel.monotonic;
    this.facts.pods.set(shape.name, { shape, createdAt, graceSeconds, downBeforeDeletion: 0, ...disturbed });
    const metadata = { name: shape.name, namespace: namespaceOf(shape) };
    if (shape.isStatic) disk.file(`${MANIFESTS}/${shape.name}.json`, manifest(shape));
    else {
      const { metadata: made } = this.api.store.put("pods", { metadata, spec: { ...shape.spec, nodeName: NODE_NAME } });
      const facts = this.facts.pods.get(shape.name);
      if (facts !== undefined && made.uid !== undefined) facts.uid = made.uid;
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
    const stored = this.api.store.get("pods", namespaceOf(shape), name);
    if (stored === undefined) return;
    const old = (stored.spec?.["containers"] ?? []) as Record<string, unknown>[];
    const changed = old.map((one, index) => (index === 0 ? { ...one, image } : one));
    this.api.store.put("pods", {
      metadata: { name, namespace: namespaceOf(shape) },
      spec: { ...stored.spec, containers: changed },
    });
  }

  /** The kubelet resizes pods of the API server only. */
  resize(name: string, cpuMillis: number): void {
    const facts = this.facts.pods.get(name);
    if (facts === undefined || facts.deletedAt !== undefined || facts.shape.isStatic) return;
    const namespace = namespaceOf(facts.shape);
    if (this.api.store.get("pods", namespace, name) === undefined) return;
    const cpu = `${cpuMillis}m`;
    const requests = facts.shape.memory === undefined ? { cpu, memory: MEMORY } : { cpu };
    if (facts.shape.cpus === undefined) {
      facts.cpuMillis = cpuMillis;
      this.api.resizePod(name, { requests }, namespace);
    } else if (this.hasRun(name)) {
      // Where pods have CPUs of their own, a Guaranteed pod keeps those with which it was admitted.
      this.api.resizePod(name, { requests, limits: requests }, namespace);
    }
  }

  private hasRun(name: string): boolean {
    return [...this.runtime.state.containers.values()].some(({ config }) => podNameOf(config.labels) === name);
  }

  remove(name: string, graceSeconds: number | undefined): void {
    const facts = this.facts.pods.get(name);
    if (facts === undefined || facts.deletedAt !== undefined) return;
    facts.deletedAt = kernel.monotonic;
    facts.downBeforeDeletion = this.facts.downAt(kernel.monotonic);
    if (facts.shape.isStatic) {
      disk.tree.unlink(`${MANIFESTS}/${name}.json`);
      disk.tree.lookUp(MANIFESTS, "fsync").sync();
      return;
    }
    const grace = graceSeconds ?? facts.shape.graceSeconds;
    facts.graceSeconds = grace;
    const namespace = namespaceOf(facts.shape);
    if (this.api.store.get("pods", namespace, name) !== undefined) this.api.deletePod(name, grace, namespace);
  }

  removeByForce(name: string): void {
    const facts = this.facts.pods.get(name);
    if (facts === undefined) return;
    const namespace = namespaceOf(facts.shape);
    if (this.api.store.get("pods", namespace, name) === undefined) return;
    facts.deletedAt ??= kernel.monotonic;
    facts.graceSeconds = 0;
    this.api.deletePod(name, 0, namespace);
  }
}

function manifest({ name, uid, spec }: PodShape): string {
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default", uid }, spec });
}
