// Manifests of the suite.

import { BUSYBOX_IMAGE } from "../../tools/standalone/images.js";

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
 * A pod that appends to /var/lib/kubelet/story: `<name> told <second>` at SIGTERM and, unless it is deaf,
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

/** A pod without volumes that serves the files of /etc on a port of the host. */
export function portPod(name: string, hostPort: number) {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      terminationGracePeriodSeconds: 1,
      dnsPolicy: "Default",
      containers: [
        {
          name: "app",
          image: BUSYBOX_IMAGE,
          command: ["busybox", "httpd", "-f", "-p", "80", "-h", "/etc"],
          ports: [{ containerPort: 80, hostPort }],
        },
      ],
    },
  };
}

/**
 * Values of the pod's cgroup: 64 MiB; half of a period of 100 ms; 250m as a weight; podPidsLimit of the installed
 * example.
 */
export const LIMITS: Readonly<Record<string, string>> = {
  "memory.max": String(64 * 1024 * 1024),
  "cpu.max": "50000 100000",
  "cpu.weight": "10",
  "pids.max": "4096",
};

/** A pod whose container starts a second process, then takes memory without end. */
export function greedyPod(name: string) {
  const { spec, ...pod } = limitedPod(name);
  // It lives for a while. So the kubelet has seen the container when it reports the kill with the container's name.
  const command = ["sh", "-c", "sleep 3600 & sleep 10; exec tail /dev/zero"];
  // Guaranteed: it would be slowed down before it meets its limit otherwise.
  const resources = { limits: { cpu: "1", memory: "16Mi" } };
  const [app] = spec.containers;
  return { ...pod, spec: { ...spec, restartPolicy: "Never", containers: [{ ...app, command, resources }] } };
}

/**
 * For the kubelet's configuration: 300 MiB, 200m for system.slice by its weight alone, and requests kept from reclaim.
 */
export const RESERVED = `systemReserved: {memory: 300Mi, cpu: 200m}
systemReservedCgroup: /system.slice
enforceNodeAllocatable: [pods, system-reserved-compressible]
memoryReservationPolicy: TieredReservation
featureGates: {MemoryQoS: true}
`;
export const RESERVED_BYTES = 300 * 1024 * 1024;

/** Values of the cgroups of the pod, of its container and of all pods, when the limited pod is the only one. */
export const PROTECTED: Readonly<Record<string, string>> = {
  "memory.min": "0",
  "memory.low": String(32 * 1024 * 1024),
};
/** Values of the container's cgroup: nine tenths of the way from 32 to 64 MiB, in whole pages. */
export const THROTTLED: Readonly<Record<string, string>> = { "memory.high": "63750144" };

/** A pod with a volume in memory: a mount below /var/lib/kubelet as long as it is there. */
export function memoryVolumePod(name: string) {
  const { spec, ...pod } = limitedPod(name);
  const volumes = [{ name: "memory", emptyDir: { medium: "Memory" } }];
  const volumeMounts = [{ name: "memory", mountPath: "/memory" }];
  return { ...pod, spec: { ...spec, volumes, containers: [{ ...spec.containers[0], volumeMounts }] } };
}
