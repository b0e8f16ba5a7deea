// Manifests for the benchmark, put in place in one step.
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BUSYBOX_IMAGE } from "../../packaging/standalone/images.js";
import { MARKING_SCRIPT } from "./marks.js";

/** A pod of one container that marks its start and stop. `version` changes the content. */
export function markingPod(name: string, marks: string, version = "1"): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, annotations: { version } },
    spec: {
      terminationGracePeriodSeconds: 10,
      dnsPolicy: "Default",
      containers: [
        {
          name: "main",
          image: BUSYBOX_IMAGE,
          imagePullPolicy: "IfNotPresent",
          command: ["sh", "-c", MARKING_SCRIPT],
          env: [{ name: "N", value: name }],
          volumeMounts: [{ name: "marks", mountPath: "/marks" }],
        },
      ],
      volumes: [{ name: "marks", hostPath: { path: marks } }],
    },
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
