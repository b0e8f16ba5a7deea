// Pods of a tenant that take what they can get on a machine with cgroup v2, and a victim beside them.

import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";
import { limitedPod } from "./pods.js";

/** A response that never begins, for a client that passes over informational ones. */
const ENDLESS_103 = `yes "$(printf 'HTTP/1.1 103 Early Hints\\r\\n\\r')"`;

const HOSTILE: Readonly<Record<string, { script: string; more?: Record<string, unknown> }>> = {
  forks: { script: "more() { more | more & }; more; while true; do wait; done" },
  taker: { script: "exec tail /dev/zero" },
  flood: { script: `exec yes "$(seq 1 200 | tr -d '\\n')"` },
  liar: {
    script: `while true; do ${ENDLESS_103} | busybox nc -l -p 80; done`,
    more: { livenessProbe: { httpGet: { path: "/", port: 80 }, periodSeconds: 1, failureThreshold: 1 } },
  },
};

/** Each restarts until its manifest is removed: by its memory limit, or by its probe. The flood goes on. */
export function hostilePods() {
  return Object.entries(HOSTILE).map(([name, { script, more }]) => {
    const resources = { limits: { cpu: "100m", memory: "24Mi" } };
    const app = { name: "app", image: BUSYBOX_IMAGE, command: ["sh", "-c", script], resources, ...more };
    const spec = { terminationGracePeriodSeconds: 1, dnsPolicy: "Default", containers: [app] };
    return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec };
  });
}

/** Notes each run of its probe in a file of its own. */
export function probedPod(name: string) {
  const { spec, ...pod } = limitedPod(name);
  const readinessProbe = { exec: { command: ["sh", "-c", "echo run >>/tmp/runs"] }, periodSeconds: 1 };
  const volumes = [{ name: "tmp", emptyDir: {} }];
  const volumeMounts = [{ name: "tmp", mountPath: "/tmp" }];
  const containers = [{ ...spec.containers[0], readinessProbe, volumeMounts }];
  return { ...pod, spec: { ...spec, volumes, containers } };
}
