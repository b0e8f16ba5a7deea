// Manifests for the benchmark, put in place in one step.

import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Container } from "../../src/shared/kubernetes/api/pod.js";
import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import { ENDING_SCRIPT, MARKING_SCRIPT } from "./marks.js";

/** A pod of one container that marks its start and stop. `version` changes the content. */
export function markingPod(name: string, marks: string, version = "1"): object {
  return podOf(name, marks, version, { containers: [marking("main", name, MARKING_SCRIPT)] });
}

/** The mark that the containers of a {@link shapedPod} write after the start of the pod. */
export function shapedMarks(name: string): string[] {
  return ["app-1", "app-2"].map((app) => `${name}-${app}.start.0`);
}

/** A pod of three init containers, two sidecars among them, and two app containers. */
export function shapedPod(name: string, marks: string): object {
  const init = (own: string): Container => marking(own, `${name}-${own}`, ENDING_SCRIPT);
  const stays = (own: string): Container => marking(own, `${name}-${own}`, MARKING_SCRIPT);
  const sidecar = (own: string): Container => ({ ...stays(own), restartPolicy: "Always" });
  return podOf(name, marks, "1", {
    initContainers: [init("init-1"), sidecar("sidecar-1"), init("init-2"), sidecar("sidecar-2"), init("init-3")],
    containers: [stays("app-1"), stays("app-2")],
  });
}

function podOf(
  name: string,
  marks: string,
  version: string,
  containers: { initContainers?: Container[]; containers: Container[] },
): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, annotations: { version } },
    spec: {
      terminationGracePeriodSeconds: 10,
      dnsPolicy: "Default",
      ...containers,
      volumes: [{ name: "marks", hostPath: { path: marks } }],
    },
  };
}

function marking(name: string, marks: string, script: string): Container {
  return {
    name,
    image: BUSYBOX_IMAGE,
    imagePullPolicy: "IfNotPresent",
    command: ["sh", "-c", script],
    env: [{ name: "N", value: marks }],
    volumeMounts: [{ name: "marks", mountPath: "/marks" }],
  };
}

export class Manifests {
  constructor(
    private readonly directory: string,
    private readonly staging: string,
  ) {}

  /** Returns when the manifest was put in place, on performance.now()'s scale. */
  async put(name: string, pod: object): Promise<number> {
    const outside = join(this.staging, `${name}.incoming`);
    await writeFile(outside, JSON.stringify(pod));
    const at = performance.now();
    await rename(outside, join(this.directory, `${name}.yaml`));
    return at;
  }

  async remove(name: string): Promise<number> {
    const at = performance.now();
    await rm(join(this.directory, `${name}.yaml`));
    return at;
  }
}
