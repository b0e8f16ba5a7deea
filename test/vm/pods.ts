// Manifests of the suite.

import { BUSYBOX_IMAGE } from "../../packaging/standalone/images.js";

const IDLE = "trap 'exit 0' TERM; while true; do sleep 3600 & wait $!; done";

/** A Burstable pod whose limits show in every controller; see {@link LIMITS}. */
export function limitedPod(name: string) {
  const resources = { requests: { cpu: "250m", memory: "32Mi" }, limits: { cpu: "500m", memory: "64Mi" } };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 2,
      dnsPolicy: "Default",
      containers: [{ name: "app", image: BUSYBOX_IMAGE, command: ["sh", "-c", IDLE], resources }],
    },
  };
}

/** Of the pod's cgroup: 64 MiB; half of a period of 100 ms; 250m as a weight; podPidsLimit of the installed example. */
export const LIMITS: Readonly<Record<string, string>> = {
  "memory.max": String(64 * 1024 * 1024),
  "cpu.max": "50000 100000",
  "cpu.weight": "10",
  "pids.max": "4096",
};
