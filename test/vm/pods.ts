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

/**
 * A pod that writes to /var/lib/kubelet/story what becomes of it: `<name> told <second>` at SIGTERM and, unless it is deaf,
 * `<name> over <second>` three seconds later; a deaf one `<name> alive <second>` until it is killed.
 */
export function notingPod(name: string, { priority, deaf = false }: { priority?: number; deaf?: boolean }) {
  const say = (what: string): string => `echo "${name} ${what} $(date +%s)" >>/story/${name}`;
  const onTerm = deaf ? say("told") : `${say("told")}; sleep 3; ${say("over")}; exit 0`;
  const script = `trap '${onTerm}' TERM; while true; do sleep 1; [ -e /story/${name} ] && ${say("alive")}; done`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      ...(priority !== undefined && { priority }),
      terminationGracePeriodSeconds: deaf ? 8 : 30,
      dnsPolicy: "Default",
      volumes: [{ name: "story", hostPath: { path: "/var/lib/kubelet/story", type: "DirectoryOrCreate" } }],
      containers: [
        {
          name: "app",
          image: BUSYBOX_IMAGE,
          command: ["sh", "-c", script],
          volumeMounts: [{ name: "story", mountPath: "/story" }],
        },
      ],
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
