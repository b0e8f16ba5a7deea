// The table of broken pods for `nodelet why`, one row a case: the pod, the exit code, the deciding sentence with its
// evidence, and hints that would be wrong. `$$` in a command is one dollar sign for its shell.

import { join } from "node:path";
import type { Container, PodSpec } from "../../src/shared/kubernetes/api/pod.js";
import { testImage } from "../harness/node.js";
import { IDLE, shell } from "./static-pods.js";
import type { Expected } from "./why-command.js";

export interface Row extends Expected {
  /** Containers of the pod; a text is the script of one container "app". */
  pod: string | Container | Container[];
  spec?: Partial<PodSpec>;
}

/** Files, ports and registries that the rows' pods use. */
export interface Surroundings {
  dir: string;
  /** A port of the host that this process holds. */
  port: number;
  /** A registry without images, and one that wants credentials. */
  registry: string;
  locked: string;
}

const HTTPD = `mkdir -p /www && httpd -p 8080 -h /www; ${IDLE}`;
/** Hints for a container that another program killed, or that ended by itself. */
export const WRONG_KILL = [/another program killed it/, /exited by itself with success/];
export const mount = (name: string, mountPath: string) => ({ name, mountPath });
const host = (path: string, type: "Directory" | "CharDevice" | "File") => ({
  volumes: [{ name: "d", hostPath: { path, type } }],
});
const probed = (fields: object) => ({ periodSeconds: 1, ...fields });

export function rowsIn({ dir, port, registry, locked }: Surroundings): Record<string, Row> {
  return {
    healthy: {
      pod: IDLE,
      code: 0,
      words: [/^default\/healthy-testnode is running and ready its history: nodelet why \S+ -o wide ?$/],
    },
    "image-host": {
      pod: { name: "app", image: "registry.invalid/none:1" },
      words: [
        /is not running: (ErrImagePull|ImagePullBackOff)/,
        /image "registry\.invalid\/none:1" cannot be pulled.*: the name of its registry registry\.invalid does not resolve: .*lookup registry\.invalid/,
      ],
      never: [/replied/, /rpc error/],
    },
    "image-tag": {
      pod: { name: "app", image: `${registry}/none:1` },
      words: [/cannot be pulled.*127\.0\.0\.1:\d+ replied: .*not found/, /check the spelling of repository and tag/],
    },
    "image-rights": {
      pod: { name: "app", image: `${locked}/none:1` },
      words: [/cannot be pulled.*replied: /, /the registry refuses these credentials: check imagePullSecrets/],
    },
    "image-silent": {
      pod: { name: "app", image: "127.0.0.1:1/none:1" },
      words: [
        /cannot be pulled.*: 127\.0\.0\.1:1 did not respond: .*connection refused/,
        /this node does not reach 127\.0\.0\.1:1/,
      ],
      never: [/replied/],
    },
    "image-name": {
      pod: { name: "app", image: "UPPER/none:1" },
      // containerd 2 reads UPPER as a registry.
      words: [
        /the name is not valid: .*lowercase|cannot be used.*lowercase|its registry UPPER does not resolve/,
        /correct the image's name/,
      ],
      never: [/docker\.io/],
    },
    "image-never": {
      pod: { name: "app", image: "docker.io/library/none:9", imagePullPolicy: "Never" },
      words: [/is not on this node, and imagePullPolicy Never forbids the pull/],
    },
    readiness: {
      pod: shell("app", IDLE, { readinessProbe: probed({ tcpSocket: { port: 8081 } }) }),
      words: [
        /is running, 0 of 1 containers are ready/,
        /its readiness probe \(TCP port 8081\) has failed \d+ times?, so the container is not ready/,
        /no program listens on this port/,
      ],
      never: [/<pod>/],
    },
    startup: {
      pod: shell("app", IDLE, {
        startupProbe: probed({ exec: { command: ["sh", "-c", "echo warming up; exit 1"] }, failureThreshold: 1000 }),
      }),
      words: [
        /its startup probe \(exec sh -c echo warming up; exit 1\) has failed \d+ times? in a row; the container does not count as started\. Its last output: warming up/,
        /nodelet exec startup-testnode -c app -- sh -c 'echo warming up; exit 1'/,
      ],
      never: [/<pod>/],
    },
    "liveness-http": {
      pod: shell("app", HTTPD, { livenessProbe: probed({ httpGet: { path: "/healthz", port: 8080 } }) }),
      words: [
        /liveness probe GET \/healthz on port 8080 answered 404, 3 times in a row; killed [2-9] times, last \d+s ago\. The kubelet waits longer/,
      ],
      never: WRONG_KILL,
    },
    "liveness-again": {
      pod: shell("app", IDLE, {
        livenessProbe: { exec: { command: ["false"] }, periodSeconds: 3, failureThreshold: 2 },
      }),
      words: [
        /is restarting: running and ready now, after \d+ restarts?/,
        /liveness probe exec false failed without output, 2 times in a row; killed \d+ times?, last \d+s ago\. It runs again/,
      ],
      never: WRONG_KILL,
    },
    "liveness-tcp": {
      pod: shell("app", IDLE, { livenessProbe: probed({ tcpSocket: { port: 8082 }, failureThreshold: 2 }) }),
      words: [
        /liveness probe TCP port 8082 was refused \(connection refused\), 2 times in a row; killed \d+ times?, last \d+s ago/,
      ],
      never: WRONG_KILL,
    },
    "liveness-grpc": {
      pod: shell("app", IDLE, { livenessProbe: probed({ grpc: { port: 8083 } }) }),
      words: [/liveness probe gRPC port 8083 found no gRPC server within 1 s, 3 times in a row; killed \d+ times?/],
      never: [...WRONG_KILL, /raise it/],
    },
    "liveness-exec": {
      // It ignores SIGTERM: exit code 137 with a cause that is no other program.
      pod: shell("app", "trap '' TERM; while :; do sleep 1; done", {
        livenessProbe: probed({ exec: { command: ["sleep", "9"] }, failureThreshold: 1 }),
      }),
      words: [
        /liveness probe exec sleep 9 did not end within 1 s, 1 time in a row; killed \d+ times?/,
        /it did not stop within its grace period/,
      ],
      never: WRONG_KILL,
    },
    "liveness-never": {
      pod: shell("app", IDLE, { livenessProbe: probed({ exec: { command: ["sh", "-c", "echo deaf; exit 1"] } }) }),
      spec: { restartPolicy: "Never" },
      words: [
        /has ended, because the kubelet stopped it/,
        /liveness probe exec sh -c echo deaf; exit 1 failed with "deaf", 3 times in a row; killed 1 time, .*The restart policy does not start it again/,
      ],
      never: WRONG_KILL,
    },
    "startup-kill": {
      pod: shell("app", IDLE, { startupProbe: probed({ exec: { command: ["false"] }, failureThreshold: 2 }) }),
      words: [
        /startup probe exec false failed without output, 2 times in a row; killed \d+ times?, last/,
        /needs a larger failureThreshold/,
      ],
      never: WRONG_KILL,
    },
    crash: {
      pod: "echo 'FATAL: DATABASE_URL is not set'; printf 'bell\\a\\n'; exit 3",
      words: [
        /not running: CrashLoopBackOff/,
        /it exited with code 3; \d+ restarts? so far/,
        /its last output: .*\| FATAL: DATABASE_URL is not set \| bell\\x07/,
        /nodelet logs crash-testnode -c app --previous/,
      ],
    },
    "runs-again": {
      pod: "test -e /data/second && exec sleep 1000; touch /data/second; echo first run is over; exit 4",
      spec: { volumes: [{ name: "data", emptyDir: {} }] },
      words: [
        /is restarting: running and ready now, after 1 restart/,
        /it runs again after its last run ended \d+s ago: it exited with code 4; 1 restart so far/,
        /its last output: \| first run is over/,
      ],
    },
    "exit-zero": {
      pod: "echo done",
      words: [/it exited with code 0/, /must keep running/, /its last output: \| done/],
    },
    exits: {
      pod: [
        shell("a126", "/etc/passwd"),
        shell("a127", "no-such-program"),
        shell("segv", "sh -c 'kill -SEGV $$$$'; exit $?"),
        shell("abrt", "sh -c 'kill -ABRT $$$$'; exit $?"),
        shell("silent", "exit 5"),
      ],
      spec: { restartPolicy: "Never" },
      words: [
        /container a126: it exited with code 126; .*\| sh: \/etc\/passwd: Permission denied .*code 126: the command is there and cannot be executed/,
        /container a127: it exited with code 127; .*\| sh: no-such-program: not found .*code 127: the shell did not find/,
        /container segv: it exited with code 139, killed by SIGSEGV; .*crashed with a segmentation fault/,
        /container abrt: it exited with code 134, killed by SIGABRT/,
        /container silent: it exited with code 5; .*\| \(it wrote nothing\)/,
      ],
    },
    command: {
      pod: { name: "app", image: testImage(), command: ["no-such-program"] },
      words: [
        /not running: CrashLoopBackOff.*it cannot be started \(StartError\), .*executable file not found/,
        /the command is not in the image/,
      ],
      never: [/OCI runtime/, /: unknown/, /2 UNKNOWN/, /it keeps exiting/],
    },
    rights: {
      pod: { name: "app", image: testImage(), command: ["/etc/passwd"] },
      words: [/it cannot be started .*permission denied/, /not executable for the container's user/],
    },
    "work-folder": {
      pod: shell("app", IDLE, { workingDir: "/etc/passwd" }),
      words: [/it cannot be started/, /the container's workingDir cannot be entered/],
    },
    architecture: {
      pod: { name: "app", image: testImage(), command: ["/program"], volumeMounts: [mount("d", "/program")] },
      spec: host(join(dir, "foreign"), "File"),
      words: [/exec format error/, /built for another processor architecture/],
    },
    oom: {
      pod: shell("app", "x=a; while :; do x=$x$x; done", { resources: { limits: { memory: "24Mi" } } }),
      words: [
        /the kernel killed it \(OOMKilled\): it needed more than its memory limit of 24\.0 MiB/,
        /raise the memory limit/,
      ],
      never: WRONG_KILL,
    },
    "read-only": {
      pod: shell("app", "echo x > /file", { securityContext: { readOnlyRootFilesystem: true } }),
      words: [/\| sh: can't create \/file: Read-only file system/, /mount an emptyDir volume at that path/],
    },
    "non-root": {
      pod: shell("app", IDLE, { securityContext: { runAsNonRoot: true } }),
      words: [
        /it cannot be started \(CreateContainerConfigError\): container has runAsNonRoot/,
        /the image runs as root: set runAsUser/,
      ],
    },
    "sub-path": {
      pod: shell("app", IDLE, { volumeMounts: [{ ...mount("d", "/d"), subPathExpr: "$(NOT_SET)" }] }),
      spec: { volumes: [{ name: "d", emptyDir: {} }] },
      words: [/it cannot be started \(CreateContainerConfigError\)/, /correct the subPath of the volume mount/],
    },
    "host-path": {
      pod: shell("app", IDLE, { volumeMounts: [mount("d", "/d")] }),
      spec: host(join(dir, "missing"), "Directory"),
      words: [
        /volume d: the \S+ plugin failed: hostPath type check failed: \S+ is not a directory/,
        /create it, or use type DirectoryOrCreate/,
      ],
      never: [/setting up volume/],
    },
    device: {
      pod: shell("app", IDLE, { volumeMounts: [mount("d", "/dev/none")] }),
      spec: host("/dev/nodelet-none", "CharDevice"),
      words: [/is not a character device/, /this node has no character device there/],
      never: [/DirectoryOrCreate/],
    },
    "port-first": {
      pod: shell("app", IDLE, { ports: [{ containerPort: 80, hostPort: 7391 }] }),
      code: 0,
      words: [/running and ready/],
    },
    "port-second": {
      pod: shell("app", IDLE, { ports: [{ containerPort: 81, hostPort: 7391 }] }),
      words: [
        /refused it \(NodePorts\), because a host port is taken: port 7391 \(TCP\) is held by the pod default\/port-first-testnode/,
      ],
      never: [/nodelet -o json pods/],
    },
    "port-process": {
      pod: shell("app", `exec httpd -f -p ${port} -h /`),
      spec: { hostNetwork: true },
      words: [
        /\| httpd: bind: Address already in use/,
        new RegExp(
          `the holder of the port: \\| port ${port} \\(TCP\\): the process \\S+ \\(pid ${process.pid}\\) of this machine`,
        ),
      ],
    },
    "port-inside": {
      pod: [
        shell("first", "httpd -p 8085 -h /; exec sleep 1000"),
        shell("second", "sleep 1; exec httpd -f -p 8085 -h /"),
      ],
      words: [
        /the holder of the port: \| port 8085 \(TCP\): the process httpd \(pid \d+\), container first of pod default\/port-inside-testnode/,
      ],
    },
    cpu: {
      pod: shell("app", IDLE, { resources: { requests: { cpu: "5000010m" } } }),
      words: [
        /not running: OutOfcpu/,
        /the kubelet refused it: [\d.]+ CPUs are missing\. It requests 5000\.01 CPUs/,
        /this node never has so much: request at most [\d.]+ CPUs?/,
      ],
      never: [/of cpu/, /\b\d{4,9}m CPU/],
    },
    memory: {
      pod: shell("app", IDLE, { resources: { requests: { memory: "900Ti" } } }),
      words: [
        /not running: OutOfmemory/,
        /the kubelet refused it: \S+ TiB of memory are missing\. It requests 900 TiB/,
      ],
    },
    "init-waits": {
      pod: IDLE,
      spec: { initContainers: [shell("wait", `echo no database yet; ${IDLE}`)] },
      words: [
        /not running: Init:0\/1/,
        /init container wait: it runs, and the containers after it wait until it exits.*its last output: \| no database yet/,
        /nodelet logs init-waits-testnode -c wait/,
      ],
    },
    "init-crash": {
      pod: IDLE,
      spec: { initContainers: [shell("migrate", "echo no such table; exit 6")] },
      words: [
        /not running: Init:CrashLoopBackOff/,
        /init container migrate: .*it exited with code 6/,
        /\| no such table/,
      ],
    },
    sidecar: {
      pod: IDLE,
      spec: { initContainers: [shell("proxy", "echo no upstream; sleep 1; exit 7", { restartPolicy: "Always" })] },
      words: [/init container proxy: .*it exited with code 7/, /\| no upstream/],
    },
    "post-start": {
      pod: shell("app", IDLE, {
        lifecycle: { postStart: { exec: { command: ["sh", "-c", "echo no token; exit 8"] } } },
      }),
      words: [
        /the kubelet stopped it because its postStart hook failed: .*exited with 8.*no token/,
        /correct the postStart hook/,
      ],
      never: WRONG_KILL,
    },
  };
}
