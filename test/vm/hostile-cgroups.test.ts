// Pods that attack by their cgroups, on a machine with a pure cgroup v2 tree: floods of processes, memory without end, nested cgroups, frozen
// and threaded ones. A normal pod beside them is not restarted, and their own cgroups go with them.
// @promise Hostile tenants and clients: On cgroup v2, a pod that floods its cgroup, nests, freezes or threads it is ended like any other; a pod beside it is
//   not restarted.
import assert from "node:assert/strict";
import { after, before, describe, test, type TestContext } from "node:test";
import { BUSYBOX_IMAGE } from "../../packaging/standalone/images.js";
import { PATIENCE } from "../../packaging/standalone/wait.js";
import { GuestNode, MANIFESTS } from "./guest-node.js";
import { limitedPod } from "./pods.js";
import { openWorld, type World } from "./world.js";

const PACKAGE = "/mnt/package";
const STAMPS = "/var/lib/kubelet/stamps";
const CGROUP = "/sys/fs/cgroup";
const ATTACK_S = 20;

let world: World;
let node: GuestNode;

/** A pod with limits whose container runs the script. */
function pod(name: string, script: string, { privileged = false, memory = "96Mi" } = {}) {
  const { spec, ...rest } = limitedPod(name);
  const [app] = spec.containers;
  const resources = { requests: { cpu: "50m", memory: "16Mi" }, limits: { cpu: "500m", memory } };
  const securityContext = { privileged };
  const container = { ...app, command: ["sh", "-c", script], resources, securityContext };
  return { ...rest, spec: { ...spec, terminationGracePeriodSeconds: 1, containers: [container] } };
}

/** Writes the machine's uptime at each probe. */
function victim() {
  const whole = limitedPod("victim");
  const [app] = whole.spec.containers;
  const probe = {
    exec: { command: ["sh", "-c", "cut -d' ' -f1 /proc/uptime >>/stamps/victim"] },
    ...{ periodSeconds: 1, timeoutSeconds: 10, failureThreshold: 30 },
  };
  const volumes = [{ name: "stamps", hostPath: { path: STAMPS, type: "DirectoryOrCreate" } }];
  const volumeMounts = [{ name: "stamps", mountPath: "/stamps" }];
  const container = { ...app, image: BUSYBOX_IMAGE, livenessProbe: probe, readinessProbe: probe, volumeMounts };
  return { ...whole, spec: { ...whole.spec, volumes, containers: [container] } };
}

/** Without its processes: probes come and go. */
async function victimRun(): Promise<{ id: string; restartCount: number }> {
  const { id, restartCount } = await node.container(await node.runningPod("victim"));
  return { id, restartCount };
}

/** Seconds. */
async function longestGap(): Promise<number> {
  const stamps = (await node.vm.ok(`cat ${STAMPS}/victim`)).trim().split("\n").map(Number);
  return Math.max(...stamps.slice(1).map((stamp, at) => stamp - (stamps[at] ?? stamp)));
}

const ATTACKS: readonly [name: string, manifest: object][] = [
  ["forks", pod("forks", "f() { while :; do sleep 1000 & done; }; f & f & f & wait")],
  ["exits", pod("exits", "while :; do for i in 1 2 3 4 5 6 7 8 9; do true & done; done")],
  ["greedy", pod("greedy", "sleep 2; tail /dev/zero", { memory: "16Mi" })],
  [
    "nested",
    pod(
      "nested",
      `i=0; while [ $i -lt 300 ]; do mkdir -p ${CGROUP}/n$i/a/b; sleep 3600 & echo $! >${CGROUP}/n$i/a/b/cgroup.procs; i=$((i + 1)); done; wait`,
      { privileged: true },
    ),
  ],
  ["frozen", pod("frozen", `sleep 3; echo 1 >${CGROUP}/cgroup.freeze; sleep 3600`, { privileged: true })],
  [
    "threaded",
    pod(
      "threaded",
      `mkdir ${CGROUP}/t; echo threaded >${CGROUP}/t/cgroup.type; echo 0 >${CGROUP}/pids.max; sleep 3600`,
      {
        privileged: true,
      },
    ),
  ],
];

describe("hostile pods on cgroup v2", { timeout: 13 * 60_000 * PATIENCE }, () => {
  before(async () => {
    world = await openWorld();
    node = new GuestNode(world.vm);
    await node.vm.ok(`make -C ${PACKAGE} install`, 120_000);
    await node.vm.ok("systemctl enable --now kubelet", 90_000);
    await node.waitHealthy();
    assert.equal((await node.vm.ok(`stat -fc %T ${CGROUP}`)).trim(), "cgroup2fs");
    await node.putManifest("victim", victim());
    await node.runningPod("victim");
    await node.vm.until(`test $(wc -l <${STAMPS}/victim) -gt 3`, { what: "the victim's probes" });
  });
  after(() => world.close());

  for (const [name, manifest] of ATTACKS) {
    test(`a pod "${name}" leaves the pod beside it running, and nothing of it stays`, async (t: TestContext) => {
      const before = await victimRun();
      await node.vm.ok(`tail -n 1 ${STAMPS}/victim >${STAMPS}/last; mv ${STAMPS}/last ${STAMPS}/victim`);
      await node.putManifest(name, manifest);
      await node.vm.until(`ls -d ${CGROUP}/kubepods/burstable/pod*/ | wc -l | grep -qx 2`, {
        what: "the pod's cgroup",
      });
      await node.vm.ok(`sleep ${ATTACK_S}`, 60_000 * PATIENCE);
      t.diagnostic(`longest gap of the victim's probes ${(await longestGap()).toFixed(1)} s`);
      await node.vm.ok(`rm ${MANIFESTS}/${name}.yaml`);
      await node.vm.until(`ls -d ${CGROUP}/kubepods/burstable/pod*/ | wc -l | grep -qx 1`, {
        what: `the cgroup of ${name} to go`,
        timeoutMs: 120_000,
      });
      assert.deepEqual(await victimRun(), before);
      const { NRestarts } = await node.unit("NRestarts");
      assert.equal(NRestarts, "0", "the kubelet was not restarted");
    });
  }
});
