// The installed package on a real machine: systemd as PID 1, a pure cgroup v2 tree, and Debian's containerd.
// One machine, booted once; the tests are its life in order: install, start, pods, restarts, kubeadm, uninstall.
// @promise Packages and documents: Unit, limits under both cgroup drivers on cgroup v2, hostile pods, restarts,
//   watchdog, journal, kubeadm's drop-in, uninstall.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import type { PodRecord } from "../../src/main/pods/sync/pod-record.js";
import { PATIENCE } from "../../tools/standalone/wait.js";
import { GuestNode, MANIFESTS, type RunningContainer } from "./guest-node.js";
import { hostilePods, probedPod } from "./hostile-pods.js";
import { greedyPod, LIMITS, limitedPod, notingPod, PROTECTED, RESERVED, RESERVED_BYTES, THROTTLED } from "./pods.js";
import { openWorld, type World } from "./world.js";

const PACKAGE = "/mnt/package";
/** Everything on the root disk but what systemd, containerd and CNI keep for themselves. */
const LIST_FILES = `find / -xdev \\( -path /tmp -o -path /var/tmp -o -path /var/log/journal -o -path /var/lib/systemd \
  -o -path /var/lib/containerd -o -path /var/lib/cni -o -path /var/cache/ldconfig \\) -prune -o -print | sort`;

let world: World;
let node: GuestNode;
let filesBefore: string[];

const listFiles = async (): Promise<string[]> => (await node.vm.ok(LIST_FILES)).trim().split("\n");

describe("the installed package on a machine with systemd", { timeout: 13 * 60_000 * PATIENCE }, () => {
  before(async () => {
    world = await openWorld();
    node = new GuestNode(world.vm);
    filesBefore = await listFiles();
  });
  after(() => world.close());

  test("make install brings a unit that systemd finds no fault with", async () => {
    await node.vm.ok(`make -C ${PACKAGE} install`, 120_000);
    const complaints = await node.vm.ok("systemd-analyze verify --man=no kubelet.service 2>&1");
    assert.doesNotMatch(complaints, /kubelet/);
    assert.match(await node.vm.ok("kubelet --version"), /^Kubernetes v1\.36\./);
  });

  test("systemd starts the unit of the package", async () => {
    await node.vm.ok("systemctl enable --now kubelet", 90_000);
    await node.waitHealthy();
    const unit = await node.unit("ActiveState", "SubState", "NRestarts", "UnitFileState");
    assert.deepEqual(unit, { ActiveState: "active", SubState: "running", NRestarts: "0", UnitFileState: "enabled" });
  });

  test("the unit counts as active only when the kubelet reports that it is ready", async () => {
    const entries = await node.journal();
    const started = entries.findIndex(({ message }) => message.startsWith("Started kubelet.service"));
    const spoke = entries.findIndex(({ identifier }) => identifier === "kubelet");
    assert.ok(spoke >= 0 && started > spoke, `line ${started} says Started, the agent's first is line ${spoke}`);
    const unit = await node.unit("Type", "StatusText");
    assert.equal(unit["Type"], "notify");
    assert.notEqual(unit["StatusText"], "");
  });

  test("a static pod runs with its limits in cgroup v2, under the cgroupfs driver", async () => {
    await node.putManifest("limits", limitedPod("limits"));
    const pod = await node.runningPod("limits");
    const folder = `/sys/fs/cgroup/kubepods/burstable/pod${pod.metadata.uid}`;
    assert.deepEqual(await node.cgroup(folder, Object.keys(LIMITS)), LIMITS);
    const { id } = await node.container(pod);
    const container = await node.cgroup(`${folder}/${id}`, ["memory.max", "memory.oom.group"]);
    assert.deepEqual(container, { "memory.max": LIMITS["memory.max"], "memory.oom.group": "1" });
    await node.vm.until("test $(cat /sys/fs/cgroup/kubepods/memory.max) != max", { what: "node allocatable" });
    const kubepods = await node.cgroup("/sys/fs/cgroup/kubepods", ["memory.max"]);
    assert.deepEqual(kubepods, { "memory.max": String(await node.memoryBytes()) }, "nothing is set aside");
  });

  // The watchdog ends it as `kill -KILL` does. `systemctl restart` follows below, under the other driver;
  // test/vm/release has it under this one.
  test("a kubelet that hangs is killed by the watchdog, is started again, and leaves the containers running", async () => {
    await staysTheSame(async (pid) => {
      await node.vm.ok(`kill -STOP ${pid}`);
      await waitForOtherPid(pid);
    });
    const said = await node.journal();
    assert.ok(
      said.some(({ message }) => message.includes("Watchdog timeout")),
      "systemd reports the watchdog",
    );
    assert.equal((await node.vm.ok("find / -xdev -maxdepth 1 -name 'core*'")).trim(), "", "no core dump");
  });

  test("the journal shows one line per event, with its priority", async () => {
    await node.put(
      `${MANIFESTS}/broken.yaml`,
      "apiVersion: v1\nkind: Pod\nmetadata: {name: broken}\nspec: {contaners: 3}\n",
    );
    await node.vm.until("journalctl --unit kubelet --priority err --no-pager --quiet | grep broken", {
      what: "an error about the broken manifest in the journal",
    });
    await node.vm.ok(`rm ${MANIFESTS}/broken.yaml`);
    const lines = (await node.journal()).filter(({ identifier }) => identifier === "kubelet");
    const priorities: Readonly<Record<string, number>> = { I: 6, W: 4, E: 3, F: 2 };
    for (const { message, priority } of lines) {
      assert.match(message, /^[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{6} /, "klog's head");
      assert.equal(priority, priorities[message[0] ?? ""], `priority of: ${message}`);
      assert.ok(message.length < 2000, `${message.length} characters: ${message.slice(0, 200)}`);
    }
    const otherLines = (await node.journal()).filter(({ identifier }) => !["kubelet", "systemd"].includes(identifier));
    assert.deepEqual(otherLines, []);
  });

  test("a static pod runs with its limits, under the systemd driver, and systemctl restart leaves it running", async () => {
    await node.removePods();
    await node.vm.ok(
      `systemctl stop kubelet
       sed -i 's/SystemdCgroup = false/SystemdCgroup = true/' /etc/containerd/config.toml
       sed -i 's/cgroupDriver: cgroupfs/cgroupDriver: systemd/' /etc/nodelet/kubelet.yaml
       cat >>/etc/nodelet/kubelet.yaml <<'END'
${RESERVED}END
       grep -q 'SystemdCgroup = true' /etc/containerd/config.toml && grep -q 'cgroupDriver: systemd' /etc/nodelet/kubelet.yaml
       systemctl restart containerd && systemctl start kubelet`,
      120_000,
    );
    await node.putManifest("slices", limitedPod("slices"));
    const pod = await node.runningPod("slices");
    const slice = `kubepods-burstable-pod${pod.metadata.uid.replaceAll("-", "_")}.slice`;
    const folder = `/sys/fs/cgroup/kubepods.slice/kubepods-burstable.slice/${slice}`;
    const { id } = await node.container(pod);
    const unit = `cri-containerd-${id}.scope`;
    const protectedPod = { ...LIMITS, ...PROTECTED };
    const container = { ...PROTECTED, "memory.max": LIMITS["memory.max"], ...THROTTLED };
    const whole = { "memory.oom.group": "1" };
    const kubepods = { "memory.max": String((await node.memoryBytes()) - RESERVED_BYTES), ...PROTECTED };
    const check = async (): Promise<void> => {
      assert.deepEqual(await node.cgroup(folder, Object.keys(protectedPod)), protectedPod);
      assert.deepEqual(await node.cgroup(`${folder}/${unit}`, Object.keys(container)), container);
      assert.deepEqual(await node.cgroup("/sys/fs/cgroup/kubepods.slice", Object.keys(kubepods)), kubepods);
    };
    await node.vm.until("test $(cat /sys/fs/cgroup/kubepods.slice/memory.low) != 0", { what: "the tiers' values" });
    assert.equal((await node.vm.ok(`systemctl show ${unit} --property=Delegate --value`)).trim(), "yes");
    assert.equal((await node.vm.ok("systemctl show system.slice --property=CPUWeight --value")).trim(), "8");
    assert.deepEqual(await node.cgroup(`${folder}/${unit}`, Object.keys(whole)), whole);
    await check();
    // systemd writes its own view of every unit again: values that only the files have would be lost here. Of the
    // runtime's scope one is: systemd 252 has no word for memory.oom.group, and takes it back.
    await node.vm.ok("systemctl daemon-reload");
    await check();
    await staysTheSame(() => node.vm.ok("systemctl restart kubelet", 90_000), "slices");
  });

  test("hostile pods end in their own cgroups, beside a pod that is probed and one that starts", async () => {
    await node.putManifest("victim", probedPod("victim"));
    const pod = await node.runningPod("victim");
    const runs = `wc -l </var/lib/kubelet/pods/${pod.metadata.uid}/volumes/kubernetes.io~empty-dir/tmp/runs`;
    const observe = async (): Promise<unknown[]> => {
      const { id, restartCount, processes } = await node.container(await node.runningPod("victim"));
      return [id, restartCount, processes[0], await node.mainPid()];
    };
    const before = await observe();
    for (const hostile of hostilePods()) await node.putManifest(hostile.metadata.name, hostile);
    for (const name of ["forks", "taker", "liar"]) {
      await node.vm.until(`ls /var/log/pods/default_${name}-vm_*/app/[1-9].log`, {
        what: `pod ${name} to be killed and restarted`,
        timeoutMs: 90_000,
      });
    }
    await node.vm.until("find /var/log/pods/default_flood-vm_*/app/ -size +1M | grep .", { what: "the flood of logs" });
    const count = Number(await node.vm.ok(runs));
    await node.putManifest("late", limitedPod("late"));
    await node.runningPod("late");
    await node.vm.until(`test $(${runs}) -ge ${count + 5}`, { what: "five further probes of the victim" });
    await node.waitHealthy();
    assert.deepEqual(await observe(), before);
    const [, , , pid] = before;
    const rss = Number(await node.vm.ok(`sed -n 's/^VmRSS:[^0-9]*\\([0-9]*\\) kB/\\1/p' /proc/${String(pid)}/status`));
    assert.ok(rss > 0 && rss < 512 * 1024, `the kubelet has ${rss} KiB`);
    const names = [...hostilePods().map(({ metadata }) => metadata.name), "victim", "late"];
    await node.vm.ok(`cd ${MANIFESTS} && rm ${names.map((name) => `${name}.yaml`).join(" ")}`);
    await node.vm.until("test $(find /sys/fs/cgroup/kubepods.slice -name 'kubepods-*pod*.slice' | wc -l) = 1", {
      what: "the pods' cgroups to be removed",
      timeoutMs: 90_000,
    });
  });

  test("a container over its memory limit is killed whole", async () => {
    await node.putManifest("greedy", greedyPod("greedy"));
    await node.vm.until("journalctl --dmesg --no-pager --quiet | grep -q 'killed due to memory.oom.group set'", {
      what: "the kernel to kill the container",
    });
    const pod = await node.podInPhase("greedy", "Failed");
    assert.equal(pod.status?.containerStatuses?.[0]?.state.terminated?.exitCode, 137);
    await node.waitForLog(
      `the kernel killed process .* of pod greedy-vm_default.*, container app: cgroup .* is at its memory limit`,
    );
  });

  test("a kill for the machine's memory is the node's event", async () => {
    // Asked for by hand: the pods' containers are the first that the kernel chooses.
    await node.vm.ok("echo f >/proc/sysrq-trigger");
    await node.waitForLog("SystemOOM.*System OOM encountered, victim process: .*, pid: [0-9]");
    await node.waitForLog(
      "the kernel killed process .* of pod slices-vm_default.*, container app: the machine is out of memory",
    );
  });

  test("kubeadm's drop-in starts the kubelet, which names the missing parts of the cluster", async () => {
    await node.removePods();
    await node.vm.ok(`systemctl stop kubelet && make -C ${PACKAGE} install MODE=kubeadm`, 120_000);
    const refusalOf = async (what: string): Promise<string> => {
      const mark = (await node.vm.ok("date +%s")).trim();
      await node.vm.ok("systemctl start --no-block kubelet");
      await node.vm.until(`journalctl --unit kubelet --no-pager --quiet --since @${mark} | grep -F '${what}'`, {
        what: `the kubelet to speak of ${what}`,
      });
      // It may speak of it before it ends.
      await node.vm.until("systemctl show kubelet --property=ExecMainStatus --value | grep -qx 1", {
        what: "the kubelet to end with status 1",
      });
      assert.deepEqual(await node.unit("Restart"), { Restart: "always" });
      await node.vm.ok("systemctl stop kubelet");
      const lines = (await node.journal("--since", `@${mark}`)).filter(({ identifier }) => identifier === "kubelet");
      return lines.map(({ message }) => message).join("\n");
    };
    // A node whose packages are installed and nothing more.
    assert.match(await refusalOf("/var/lib/kubelet/config.yaml"), /ENOENT|no such file|does not exist/);

    // After kubeadm join, as far as files go.
    for (const [path, text] of Object.entries(KUBEADM_FILES)) await node.put(path, text);
    const said = await refusalOf("current-context: is missing");
    assert.match(said, /can't start: kubeconfig \/etc\/kubernetes\/bootstrap-kubelet\.conf/);
    assert.doesNotMatch(said, /unknown flag|TypeError|^ +at /m);
    await node.vm.ok(`rm -f ${Object.keys(KUBEADM_FILES).join(" ")}`);
  });

  test("make uninstall leaves nothing behind", async () => {
    await node.vm.ok(`make -C ${PACKAGE} uninstall PURGE=1`, 90_000);
    const known = new Set(filesBefore);
    assert.deepEqual(
      (await listFiles()).filter((path) => !known.has(path)),
      [],
    );
    assert.notEqual((await node.vm.run("systemctl cat kubelet")).status, 0, "systemd has forgotten the unit");
    assert.equal((await node.vm.ok("find /sys/fs/cgroup -maxdepth 1 -name 'kubepods*'")).trim(), "");
    assert.doesNotMatch(await node.vm.ok("systemctl list-units --all --no-legend --plain"), /kubelet|kubepods/);
    assert.equal((await node.vm.run("pgrep -f nodelet/dist")).stdout, "");
  });

  test("systemctl poweroff: pods end by priority, with their grace, before the machine goes down", async () => {
    // The kubelet's files can be read after the machine is down.
    await node.vm.ok(
      `make -C ${PACKAGE} install && mkdir -p /var/lib/kubelet && mount /dev/vdc /var/lib/kubelet`,
      120_000,
    );
    await node.vm.ok(
      `! grep -q 'SystemdCgroup = true' /etc/containerd/config.toml ||
         sed -i 's/cgroupDriver: cgroupfs/cgroupDriver: systemd/' /etc/nodelet/kubelet.yaml
       printf 'shutdownGracePeriod: 40s\nshutdownGracePeriodCriticalPods: 15s\n' >>/etc/nodelet/kubelet.yaml
       systemctl start kubelet`,
      150_000,
    );
    await node.putManifest("web", notingPod("web", { priority: 0 }));
    await node.putManifest("deaf", notingPod("deaf", { priority: 7, deaf: true }));
    await node.putManifest("system", notingPod("system", {}));
    for (const name of ["web", "deaf", "system"]) await node.runningPod(name);
    await node.vm.until("systemd-inhibit --list --no-pager | grep kubelet | grep -w shutdown | grep -w delay", {
      what: "logind to know of the kubelet's lock",
    });
    assert.match(await node.vm.ok("cat /etc/systemd/logind.conf.d/99-kubelet.conf"), /^InhibitDelayMaxSec=40$/m);

    await node.vm.ok("systemctl poweroff");
    await node.vm.down(150_000);
    const kept = await world.keptFiles();
    const story = await storyOf(kept, ["web", "deaf", "system"]);
    const at = (line: string): number => story.find(([said]) => said === line)?.[1] ?? NaN;
    const lastOf = (line: string): number => story.findLast(([said]) => said === line)?.[1] ?? NaN;
    const text = JSON.stringify(story);
    assert.ok(at("web over") - at("web told") >= 3, `web had its time: ${text}`);
    assert.ok(lastOf("deaf alive") - at("deaf told") >= 5, `deaf was not killed at once: ${text}`);
    assert.ok(at("system told") >= at("web over"), `system outlives web: ${text}`);
    assert.ok(at("system told") >= lastOf("deaf alive"), `system outlives deaf: ${text}`);
    assert.ok(at("system over") - at("system told") >= 3, `system had its time: ${text}`);
    const records = await recordsOf(kept);
    assert.deepEqual(records, {
      "deaf-vm": ["Failed", "Terminated", 137],
      "system-vm": ["Failed", "Terminated", 0],
      "web-vm": ["Failed", "Terminated", 0],
    });
    const state = JSON.parse(await readFile(`${kept}/graceful_node_shutdown_state`, "utf8")) as Record<string, string>;
    const took = Date.parse(state["endTime"] ?? "") - Date.parse(state["startTime"] ?? "");
    assert.ok(took >= 8000 && took < 40_000, `${took} ms`);
  });
});

/** Lines of the pods' stories with their second, in the order of time. */
async function storyOf(kept: string, names: readonly string[]): Promise<[said: string, second: number][]> {
  const texts = await Promise.all(names.map((name) => readFile(`${kept}/story/${name}`, "utf8")));
  return texts
    .flatMap((text) => text.trim().split("\n"))
    .map((line): [string, number] => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))])
    .sort((a, b) => a[1] - b[1]);
}

/** Final states of pods in the kubelet: phase, reason, exit code, by name. */
async function recordsOf(kept: string): Promise<Record<string, unknown[]>> {
  const folder = `${kept}/nodelet/pods`;
  const names = (await readdir(folder)).filter((name) => name.endsWith(".json")).sort();
  const found = await Promise.all(
    names.map(async (name): Promise<[string, unknown[]]> => {
      const { pod, finalStatus } = JSON.parse(await readFile(`${folder}/${name}`, "utf8")) as PodRecord;
      const exitCode = finalStatus?.containerStatuses?.[0]?.state.terminated?.exitCode;
      return [pod.metadata.name, [finalStatus?.phase, finalStatus?.reason, exitCode]];
    }),
  );
  return Object.fromEntries(found);
}

/** The pod's container before and after: same id, same processes, no restart; and another kubelet looks after it. */
async function staysTheSame(what: (pid: string) => Promise<unknown>, pod = "limits"): Promise<void> {
  const observe = async (): Promise<RunningContainer> => node.container(await node.runningPod(pod));
  const before = await observe();
  const pid = await node.mainPid();
  await what(pid);
  await node.waitHealthy();
  assert.notEqual(await node.mainPid(), pid, "another agent");
  assert.deepEqual(await observe(), before);
}

async function waitForOtherPid(pid: string): Promise<void> {
  const now = "$(systemctl show kubelet --property=MainPID --value)";
  await node.vm.until(`test "${now}" != 0 && test "${now}" != ${pid} && systemctl is-active --quiet kubelet`, {
    what: "systemd to start another kubelet",
    timeoutMs: 90_000,
  });
}

/** The main files of kubeadm join. */
const KUBEADM_FILES: Readonly<Record<string, string>> = {
  "/etc/kubernetes/kubelet.conf": "apiVersion: v1\nkind: Config\n",
  "/var/lib/kubelet/kubeadm-flags.env": `KUBELET_KUBEADM_ARGS="--hostname-override=vm --node-ip=10.0.0.1 --node-labels=tier=test"\n`,
  "/var/lib/kubelet/config.yaml": `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {cacheTTL: 0s, enabled: true}
  x509: {clientCAFile: /etc/kubernetes/pki/ca.crt}
authorization:
  mode: Webhook
  webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}
cgroupDriver: systemd
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: unix:///var/run/containerd/containerd.sock
cpuManagerReconcilePeriod: 0s
evictionPressureTransitionPeriod: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
rotateCertificates: true
shutdownGracePeriod: 0s
staticPodPath: /etc/kubernetes/manifests
`,
};
