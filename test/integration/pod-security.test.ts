// Effect of a pod's security context and its namespaces on its processes, read from inside.

import assert from "node:assert/strict";
import { access, mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readThermalThrottlePaths } from "../../src/main/node/machine.js";
import type { Container, PodSpec } from "../../src/shared/kubernetes/api/pod.js";
import { startNode, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { privilegedProblem } from "../support/privileged.js";
import {
  IDLE,
  manifest,
  NODE_NAME,
  report,
  reporter,
  shell,
  statusOf,
  values,
  waitForPod,
} from "../support/static-pods.js";

const NET_BIND_SERVICE = 10n;
const NET_ADMIN = 12n;
const CHOWN = 0n;
const isDocker = process.env["NODELET_TEST_RUNTIME"] === "docker";
let node: TestNode;

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

before(async () => {
  node = await startNode();
});
after(() => node.stop());

/** Prints the lines of /proc/self/status as NAME=VALUE. */
const STATUS = "sed 's/:[[:space:]]*/=/' /proc/self/status";

async function facts(
  name: string,
  script: string,
  securityContext: NonNullable<Container["securityContext"]>,
  spec: Partial<PodSpec> = {},
): Promise<Record<string, string>> {
  await node.writeManifest(name, manifest(name, [reporter("app", script, { securityContext })], { spec }));
  return values(await report(node, name, "app"));
}

const has = (mask: string | undefined, bit: bigint): boolean => ((BigInt(`0x${mask ?? "0"}`) >> bit) & 1n) === 1n;
const words = (text: string | undefined): string[] => (text ?? "").split(" ").sort();

describe("security context", { concurrency: 6 }, () => {
  test("no securityContext: root, the runtime's capabilities, no filter, default masks", async () => {
    const script = [
      STATUS,
      'echo "MASKED=$(cat /proc/timer_list 2>/dev/null | head -c 20)"',
      `echo "READONLY=$(grep -c ' /proc/sys proc ro' /proc/mounts)"`,
      // A path that the node's kernel lacks cannot be masked.
      `echo "MASKS=$(grep -cE ' /proc/(keys|timer_list|interrupts) ' /proc/mounts)"`,
      // Machines without such sensors have nothing to mask.
      `echo "THERMAL=$(grep -cE ' /sys/devices/system/cpu/cpu[0-9]+/thermal_throttle ' /proc/mounts)"`,
      'touch /file && echo "WRITABLE=yes"',
    ].join("\n");
    const seen = await facts("plain", script, {});
    assert.equal(seen["Uid"], "0\t0\t0\t0");
    assert.equal(seen["Seccomp"], "0");
    assert.equal(seen["NoNewPrivs"], "0");
    assert.equal(has(seen["CapEff"], CHOWN), true);
    assert.equal(has(seen["CapEff"], NET_ADMIN), false);
    assert.equal(seen["MASKED"], "");
    assert.equal(seen["READONLY"], "1");
    const there = await Promise.all(["keys", "timer_list", "interrupts"].map((name) => exists(`/proc/${name}`)));
    assert.equal(Number(seen["MASKS"]), there.filter(Boolean).length);
    assert.equal(Number(seen["THERMAL"]), (await readThermalThrottlePaths()).length);
    assert.equal(seen["WRITABLE"], "yes");
  });

  test("users and groups, the pod's and the container's own", async () => {
    const pod = { runAsUser: 1000, runAsGroup: 2000, supplementalGroups: [3000, 4000], fsGroup: 5000 };
    const script =
      'echo "UID=$(id -u)"; echo "GID=$(id -g)"; echo "GROUPS=$(id -G)"; touch /vol/file; stat -c GROUP=%g /vol';
    const volumeMounts = [{ name: "vol", mountPath: "/vol" }];
    const spec = { securityContext: pod, volumes: [{ name: "vol", emptyDir: {} }] };
    const containers = [
      reporter("app", script, { volumeMounts }),
      reporter("own", script, { volumeMounts, securityContext: { runAsUser: 1001 } }),
    ];
    await node.writeManifest("users", manifest("users", containers, { spec }));
    const app = values(await report(node, "users", "app"));
    assert.deepEqual([app["UID"], app["GID"], app["GROUP"]], ["1000", "2000", "5000"]);
    assert.deepEqual(words(app["GROUPS"]), ["2000", "3000", "4000", "5000"]);
    const own = values(await report(node, "users", "own"));
    assert.deepEqual([own["UID"], own["GID"]], ["1001", "2000"]);
  });

  test("a read-only root file system", async () => {
    const script = 'touch /file 2>/dev/null && echo "WRITABLE=yes" || echo "WRITABLE=no"';
    assert.equal((await facts("read-only", script, { readOnlyRootFilesystem: true }))["WRITABLE"], "no");
  });

  test("capabilities added and dropped", async () => {
    const only = await facts("caps", STATUS, { capabilities: { drop: ["ALL"], add: ["NET_BIND_SERVICE"] } });
    assert.equal(BigInt(`0x${only["CapEff"] ?? ""}`), 1n << NET_BIND_SERVICE);
    assert.equal(BigInt(`0x${only["CapBnd"] ?? ""}`), 1n << NET_BIND_SERVICE);
    const changed = await facts("caps-more", STATUS, { capabilities: { drop: ["CHOWN"], add: ["NET_ADMIN"] } });
    assert.equal(has(changed["CapEff"], CHOWN), false);
    assert.equal(has(changed["CapEff"], NET_ADMIN), true);
    assert.equal(has(changed["CapEff"], NET_BIND_SERVICE), true);
  });

  test("privileged: the node's capabilities, its devices, a writable /proc/sys", async (t) => {
    const problem = await privilegedProblem();
    if (problem !== undefined) {
      t.skip(problem);
      return;
    }
    const script = `${STATUS}\necho "READONLY=$(grep -c ' /proc/sys proc ro' /proc/mounts)"\necho "KMSG=$(ls /dev/kmsg 2>&1)"`;
    const seen = await facts("privileged", script, { privileged: true });
    const ours = /^CapBnd:\s*(\w+)$/m.exec(await readFile("/proc/self/status", "utf8"))?.[1];
    // The node itself may lack some; what it has, the container gets.
    assert.equal(has(seen["CapEff"], NET_ADMIN), has(ours, NET_ADMIN));
    assert.equal(seen["CapBnd"], ours);
    assert.equal(seen["Seccomp"], "0");
    assert.equal(seen["READONLY"], "0");
    assert.equal(seen["KMSG"], "/dev/kmsg");
  });

  test("allowPrivilegeEscalation false sets no new privileges", async () => {
    assert.equal((await facts("no-new", STATUS, { allowPrivilegeEscalation: false }))["NoNewPrivs"], "1");
  });

  test("seccomp: the runtime's profile, and one of the node's own", async () => {
    const standard = await facts("seccomp", STATUS, { seccompProfile: { type: "RuntimeDefault" } });
    assert.equal(standard["Seccomp"], "2");
    const rule = { names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO" };
    const profile = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [rule] };
    await mkdir(join(node.kubelet.rootDir, "seccomp", "profiles"), { recursive: true });
    await writeFile(join(node.kubelet.rootDir, "seccomp", "profiles", "no-mkdir.json"), JSON.stringify(profile));
    const script = `${STATUS}\nmkdir /tmp/folder 2>/dev/null && echo "MADE=yes" || echo "MADE=no"\ntouch /tmp/file && echo "FILE=yes"`;
    const own = await facts("seccomp-own", script, {
      seccompProfile: { type: "Localhost", localhostProfile: "profiles/no-mkdir.json" },
    });
    assert.deepEqual([own["Seccomp"], own["MADE"], own["FILE"]], ["2", "no", "yes"]);
  });

  test("sysctls of the pod", async () => {
    const sysctls = [
      { name: "net.ipv4.ip_unprivileged_port_start", value: "80" },
      { name: "kernel.shm_rmid_forced", value: "1" },
    ];
    const script =
      'echo "PORT=$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)"; echo "SHM=$(cat /proc/sys/kernel/shm_rmid_forced)"';
    const seen = await facts("sysctls", script, {}, { securityContext: { sysctls } });
    assert.deepEqual([seen["PORT"], seen["SHM"]], ["80", "1"]);
  });

  for (const [name, securityContext, message] of [
    ["root-user", { runAsNonRoot: true, runAsUser: 0 }, "container's runAsUser breaks non-root policy"],
    ["root-image", { runAsNonRoot: true }, "container has runAsNonRoot and image will run as root"],
  ] as const) {
    test(`runAsNonRoot broken by ${name}: CreateContainerConfigError`, async () => {
      await node.writeManifest(name, manifest(name, [shell("app", IDLE, { securityContext })]));
      const pod = await waitForPod(
        node,
        name,
        (view) => statusOf(view, "app")?.state.waiting?.reason === "CreateContainerConfigError",
        "refused",
      );
      const place = `(pod: "${name}-${NODE_NAME}_default(${pod.metadata.uid})", container: app)`;
      assert.equal(statusOf(pod, "app")?.state.waiting?.message, `${message} ${place}`);
      assert.equal(pod.status?.phase, "Pending");
    });
  }
});

describe("namespaces", { concurrency: 6 }, () => {
  const KINDS = ["net", "ipc", "pid", "uts"] as const;
  const script = KINDS.map((kind) => `echo "${kind}=$(readlink /proc/self/ns/${kind})"`).join("\n");

  /** Namespaces of the pod's two containers. */
  async function namespaces(name: string, spec: Partial<PodSpec>): Promise<[string, string][][]> {
    const containers = [reporter("one", script), reporter("two", script)];
    await node.writeManifest(name, manifest(name, containers, { spec }));
    const seen = [values(await report(node, name, "one")), values(await report(node, name, "two"))];
    return seen.map((one) => KINDS.map((kind): [string, string] => [kind, one[kind] ?? ""]));
  }

  /** Which namespaces are the node's, and which the two containers have in common. */
  async function sharing(name: string, spec: Partial<PodSpec>): Promise<{ host: string[]; common: string[] }> {
    const [one = [], two = []] = await namespaces(name, spec);
    const host = await Promise.all(KINDS.map((kind) => readlink(`/proc/self/ns/${kind}`)));
    return {
      host: one.filter(([, id]) => host.includes(id)).map(([kind]) => kind),
      common: one.filter(([, id], index) => two[index]?.[1] === id).map(([kind]) => kind),
    };
  }

  for (const [name, spec, expected] of [
    ["ns-own", {}, { host: [], common: ["net", "ipc", "uts"] }],
    ["ns-shared", { shareProcessNamespace: true }, { host: [], common: ["net", "ipc", "pid", "uts"] }],
    ["ns-net", { hostNetwork: true }, { host: ["net", "uts"], common: ["net", "ipc", "uts"] }],
    ["ns-pid", { hostPID: true }, { host: ["pid"], common: ["net", "ipc", "pid", "uts"] }],
    ["ns-ipc", { hostIPC: true }, { host: ["ipc"], common: ["net", "ipc", "uts"] }],
  ] as const) {
    test(Object.keys(spec)[0] ?? "the pod's own", async () => {
      // The Docker Engine gives each container a UTS namespace of its own, with the pod's host name.
      const isCommon = (kind: string): boolean => !isDocker || kind !== "uts" || "hostNetwork" in spec;
      assert.deepEqual(await sharing(name, spec), { ...expected, common: expected.common.filter(isCommon) });
    });
  }
});

describe("features that the runtime does not support", { concurrency: 2 }, () => {
  /** The text of a pod's FailedCreatePodSandBox event, as the kubelet's log tells it. */
  const refusal = (name: string): Promise<string> =>
    waitFor(
      async () => {
        const lines = (await readFile(node.kubelet.log, "utf8")).split("\n");
        const line = lines.find(
          (one) => one.includes("FailedCreatePodSandBox") && one.includes(`${name}-${NODE_NAME}`),
        );
        return line === undefined ? undefined : (JSON.parse(line) as { msg: string }).msg;
      },
      { what: `the refusal of ${name}`, timeoutMs: 60_000, intervalMs: 50 },
    );

  test("hostUsers false: root of the pod is no user of the node, or the pod waits with a reason", async (t) => {
    const script = `echo "MAP=$(cat /proc/self/uid_map)"; touch /data/file && echo "OWNER=$(stat -c %u /data/file)"`;
    const app = reporter("app", script, { volumeMounts: [{ name: "data", mountPath: "/data" }] });
    const spec = { hostUsers: false, volumes: [{ name: "data", emptyDir: {} }] };
    await node.writeManifest("users-own", manifest("users-own", [app], { spec }));
    const text = "can't set `spec.hostUsers: false`, runtime does not support user namespaces";
    const isUp = (view: PodView): boolean => statusOf(view, "app")?.state.running !== undefined;
    const refused = refusal("users-own").then((message) => ({ message }));
    const pod = await Promise.race([refused, waitForPod(node, "users-own", isUp, "running")]);
    if ("message" in pod) {
      t.diagnostic("this runtime has no user namespaces");
      assert.ok(pod.message.endsWith(`Failed to create pod sandbox: ${text}`), pod.message);
      assert.equal((await waitForPod(node, "users-own", () => true, "known")).status?.phase, "Pending");
      return;
    }
    const { MAP, OWNER } = values(await report(node, "users-own", "app"));
    const [inside, outside, length] = (MAP ?? "").trim().split(/ +/).map(Number);
    assert.deepEqual([inside, length], [0, 65536], MAP);
    assert.ok((outside ?? 0) >= 65536, MAP);
    // Volumes are mounted with the same map.
    assert.equal(OWNER, "0");
  });

  test("an unknown runtime handler is named in the message", async () => {
    await node.writeManifest("kata", manifest("kata", [shell("app", IDLE)], { spec: { runtimeClassName: "kata" } }));
    // containerd 2 lists its handlers, so the kubelet need not ask; containerd 1 does not.
    assert.match(
      await refusal("kata"),
      /Failed to create pod sandbox: (rpc error: code = \w+ desc = .*kata|runtimeClassName "kata" names no handler of the container runtime, which has .*"runc")/,
    );
  });
});
