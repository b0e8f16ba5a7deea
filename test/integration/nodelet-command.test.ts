// The nodelet command through its executable, against a whole kubelet on real containerd.
// @promise Command and status page: `nodelet cp` copies files and folders both ways; links, devices and set-uid bits
//   of a container do not reach the machine.
// @with test/cli/exec-copy.test.ts
// @promise Command and status page: `nodelet volumes`, `devices` and `cgroups` show the figures of a running node;
//   `config --diff <file>` exits with 1 when a field differs.
// @with test/cli/commands/others.test.ts
// @promise Command and status page: `nodelet` is for root and one group; another user is refused, and a killed
//   kubelet's socket is replaced.
// @with test/workers/server/admin

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { RUNTIME_NAME, startNode, waitFor, type TestNode } from "../harness/node.js";
import { nodelet, runNodelet } from "../support/nodelet-command.js";
import { IDLE, manifest, NODE_NAME, shell, waitForPod } from "../support/static-pods.js";

const NOBODY = 65534;
const GROUP = 54321;

describe("the nodelet command", () => {
  let node: TestNode;

  before(async () => {
    node = await startNode({ secure: true });
    await node.writeManifest("web", manifest("web", [shell("app", `echo hello; ${IDLE}`)]));
    await waitForPod(node, "web", ({ status }) => status?.phase === "Running", "running");
  });
  after(() => node.stop());

  test("status shows threads, runtime, certificate and pods, and exits with 0", async () => {
    const { code, stdout, stderr } = await waitFor(
      async () => {
        const result = await nodelet(node, "status");
        return result.code === 0 ? result : undefined;
      },
      { what: "a status without problems", timeoutMs: 60_000 },
    );
    assert.equal(code, 0, stderr);
    for (const text of [RUNTIME_NAME, "ready", "stand-alone", "1 Running", "serving cert", "nothing is wrong"]) {
      assert.ok(stdout.includes(text), `${text} in\n${stdout}`);
    }
    for (const thread of ["main", "pleg", "server", "secure-server", "eviction"])
      assert.match(stdout, new RegExp(`^${thread} +running`, "m"));
  });

  test("status in JSON and YAML has the same data", async () => {
    const json = JSON.parse((await nodelet(node, "-o", "json", "status")).stdout) as {
      node: string;
      threads: unknown[];
    };
    assert.equal(json.node, NODE_NAME);
    assert.ok(json.threads.length > 4);
    assert.match((await nodelet(node, "-o", "yaml", "status")).stdout, /^node: testnode$/m);
  });

  test("pods lists the pod", async () => {
    const { code, stdout } = await nodelet(node, "pods");
    assert.equal(code, 0);
    assert.match(stdout, /default +web-testnode +1\/1 +Running +0/);
    assert.match((await nodelet(node, "-o", "wide", "pods")).stdout, /QOS/);
  });

  test("pod and timeline show the pod's containers and the steps of its start", async () => {
    const { code, stdout } = await nodelet(node, "pod", "web");
    assert.equal(code, 0);
    assert.match(stdout, /^app +app +running +yes +0 /m);
    assert.match(stdout, /^Ready +True$/m);
    assert.match(
      (await nodelet(node, "timeline", "web")).stdout,
      /running after \d+ ms[^]*^create-sandbox +\d+ ms +█/m,
    );
    const file = join(node.kubelet.dir, "web.svg");
    assert.equal((await nodelet(node, "timeline", "web", "--svg", file)).code, 0);
    assert.match(await readFile(file, "utf8"), /^<svg /);
    const full = await nodelet(node, "timeline", "web", "--svg", "/dev/full");
    assert.equal(full.code, 1);
    assert.match(
      full.stderr,
      /^nodelet: cannot write \/dev\/full: ENOSPC.*\nwhat to do: name another file with --svg\n$/,
    );
  });

  test("events shows the pod's events", async () => {
    assert.match((await nodelet(node, "events", "web")).stdout, /Normal +1 +Started +pod\/web-testnode/);
  });

  test("logs and exec reach the container; exec exits with the command's code", async () => {
    // A runtime may copy the line into the log after the container runs.
    const logged = async (): Promise<string> => (await nodelet(node, "logs", "web", "--tail", "1")).stdout;
    await waitFor(async () => (await logged()) !== "", { what: "a line in the log", timeoutMs: 60_000 });
    assert.equal(await logged(), "hello\n");
    const ran = await nodelet(node, "exec", "web", "--", "sh", "-c", "echo out; echo err >&2; exit 7");
    assert.deepEqual(ran, { code: 7, stdout: "out\n", stderr: "err\n" });
    const piped = await runNodelet(["--root-dir", node.kubelet.rootDir, "exec", "-i", "web", "--", "cat"], {
      input: "in",
    });
    assert.deepEqual(piped, { code: 0, stdout: "in", stderr: "" });
    assert.match((await nodelet(node, "logs", "web", "-c", "none")).stderr, /has no container none[^]*app/);
  });

  test("cp copies files and folders into a container and out of it", async () => {
    const from = join(node.kubelet.dir, "from");
    await mkdir(join(from, "sub"), { recursive: true });
    // More than the pipes hold.
    await writeFile(join(from, "sub", "big"), "x".repeat(3_000_000));
    await writeFile(join(from, "one file"), "one");
    assert.deepEqual(await nodelet(node, "cp", from, "web:/tmp/to"), { code: 0, stdout: "", stderr: "" });
    assert.deepEqual(await nodelet(node, "cp", join(from, "one file"), "web:/tmp/to/sub"), {
      ...{ code: 0, stdout: "", stderr: "" },
    });
    const listed = await nodelet(node, "exec", "web", "--", "sh", "-c", "cd /tmp/to && find . -type f | sort");
    assert.equal(listed.stdout, "./one file\n./sub/big\n./sub/one file\n");
    const back = join(node.kubelet.dir, "back");
    assert.equal((await nodelet(node, "cp", "web:/tmp/to", back)).code, 0);
    assert.equal((await readFile(join(back, "sub", "big"), "utf8")).length, 3_000_000);
    // Into a folder that is there, and no second time.
    assert.equal((await nodelet(node, "cp", "web:/tmp/to", back)).code, 0);
    assert.deepEqual((await readdir(join(back, "to"))).sort(), ["one file", "sub"]);
    assert.match((await nodelet(node, "cp", "web:/tmp/to", back)).stderr, /back\/to is a folder already/);
    assert.match((await nodelet(node, "cp", "web:/none", back)).stderr, /tar in the container failed: .*none/);
    assert.equal((await nodelet(node, "cp", "web:/none", "web:/other")).code, 2);
    const nowhere = join(node.kubelet.dir, "none", "file");
    const missing = `nodelet: there is no folder ${dirname(nowhere)}\nwhat to do: make it, or name another target\n`;
    assert.deepEqual(await nodelet(node, "cp", "web:/tmp/to", nowhere), { code: 1, stdout: "", stderr: missing });
    // The machine's own words, in one line.
    const refused = await nodelet(node, "cp", "web:/tmp/to", "/proc/file");
    assert.match(refused.stderr, /^nodelet: [^\n]*'\/proc\/[^\n]*\n$/);
    assert.deepEqual(
      (await readdir(node.kubelet.dir)).filter((name) => name.startsWith(".nodelet-cp-")),
      [],
    );
  });

  test("cp leaves links and set-uid bits in the container", async () => {
    const script =
      "mkdir /tmp/bad && cd /tmp/bad && ln -s /etc/passwd link && echo x > prog && chmod 4755 prog && mkfifo pipe";
    assert.equal((await nodelet(node, "exec", "web", "--", "sh", "-c", script)).code, 0);
    const to = join(node.kubelet.dir, "bad");
    const { code, stderr } = await nodelet(node, "cp", "web:/tmp/bad", to);
    assert.deepEqual([code, stderr.match(/bad\/(link|pipe) is no file/g)?.length], [0, 2]);
    assert.deepEqual(await readdir(to), ["prog"]);
    assert.equal((await stat(join(to, "prog"))).mode & 0o7000, 0);
  });

  test("top shows the usage of node and pod", async () => {
    const seen = await waitFor(
      async () => /default\/web-testnode +\d+m +[\d.]+ \w+/.exec((await nodelet(node, "top")).stdout)?.[0],
      { what: "figures of the pod", timeoutMs: 60_000, intervalMs: 500 },
    );
    assert.ok(seen);
    assert.match((await nodelet(node, "-o", "json", "stats")).stdout, /"podRef"/);
  });

  test("config shows origins, and with --diff only the fields that are set", async () => {
    assert.match((await nodelet(node, "config")).stdout, /^maxPods +default +110$/m);
    const { stdout } = await nodelet(node, "config", "--diff");
    assert.match(stdout, /^cgroupDriver +\S+kubelet-config\.yaml:\d+:\d+ +"cgroupfs"$/m);
    assert.doesNotMatch(stdout, /^maxPods/m);
  });

  test("images shows who uses an image, and when garbage collection begins", async () => {
    const { stdout } = await nodelet(node, "images");
    assert.match(stdout, / used +now +- +default\/web-testnode/);
    assert.match(stdout, /Image garbage collection is off/);
  });

  test("config --diff with a file exits with 1 when something differs, with 0 when nothing does", async () => {
    const file = join(node.kubelet.dir, "other.json");
    const configz = await nodelet(node, "-o", "json", "config");
    await writeFile(file, JSON.stringify({ kubeletconfig: JSON.parse(configz.stdout) as object }));
    const same = await nodelet(node, "config", "--diff", file);
    assert.deepEqual([same.code, same.stdout], [0, `no field differs from ${file}\n`], same.stdout + same.stderr);
    await writeFile(file, "kind: KubeletConfiguration\nmaxPods: 7\n");
    const other = await nodelet(node, "config", "--diff", file);
    assert.equal(other.code, 1);
    assert.match(other.stdout, /^maxPods +110 +7$/m);
    assert.equal((await nodelet(node, "config", "--diff", "/does/not/exist")).code, 2);
  });

  test("volumes, cgroups and devices show the resources of the pod", async () => {
    const resources = { limits: { cpu: "150m", memory: "48Mi" } };
    const app = shell("app", IDLE, { resources, volumeMounts: [{ name: "data", mountPath: "/data" }] });
    await node.writeManifest(
      "holds",
      manifest("holds", [app], { spec: { volumes: [{ name: "data", emptyDir: {} }] } }),
    );
    await waitForPod(node, "holds", ({ status }) => status?.phase === "Running", "running");
    const unknown = await nodelet(node, "volumes", "nosuch");
    assert.deepEqual([unknown.code, /this node has no pod nosuch/.test(unknown.stderr)], [1, true]);
    const volumes = await nodelet(node, "volumes");
    assert.match(volumes.stdout, /^default\/holds-testnode +data +kubernetes\.io\/empty-dir +set up/m);
    const cgroups = await nodelet(node, "cgroups");
    assert.match(cgroups.stdout, /^all pods +/m);
    assert.match(cgroups.stdout, /^default\/holds-testnode app +150m +\d+ +\d+ +[\d.]+ \w+ +48\.0 MiB/m);
    const devices = await nodelet(node, "devices");
    assert.equal(devices.code, 0, devices.stderr);
    assert.match(devices.stdout, /no device plugin offers devices[^]*exclusive CPUs: none/);
    await node.removeManifest("holds");
  });

  test("doctor judges the machine", async () => {
    const { stdout } = await nodelet(node, "doctor");
    for (const check of ["kernel", "cgroups", "swap", "runtime", "DNS", "disk /", "kubelet"])
      assert.ok(stdout.includes(` ${check}: `), check);
    assert.match(stdout, new RegExp(`ok +runtime: ${RUNTIME_NAME} v?\\d`));
    // The private containerd's own folder, by its configuration.
    if (RUNTIME_NAME === "containerd") assert.match(stdout, /^ok +CNI configuration: \S+ in \S+\/cni\/conf$/m);
  });

  test("support-bundle writes an archive for root only, without values of variables", async () => {
    const env = [{ name: "PASSWORD", value: "hunter2hunter2" }];
    await node.writeManifest("secretive", manifest("secretive", [shell("app", IDLE, { env })]));
    await waitForPod(node, "secretive", ({ status }) => status?.phase === "Running", "running");
    const file = join(node.kubelet.dir, "bundle.tar.gz");
    const { code, stderr } = await nodelet(node, "support-bundle", "--file", file);
    assert.equal(code, 0, stderr);
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const names = execFileSync("tar", ["-tzf", file], { encoding: "utf8" });
    for (const part of ["status.json", "pods.json", "events.json", "config.json", "metrics.txt"])
      assert.ok(names.includes(part), names);
    const pods = execFileSync("tar", ["-xzOf", file, "--wildcards", "*/pods.json"], { encoding: "utf8" });
    assert.match(pods, /secretive-testnode/);
    assert.doesNotMatch(pods, /hunter2/);
    await node.removeManifest("secretive");
  });

  test("wrong usage exits with 2", async () => {
    assert.equal((await nodelet(node, "frobnicate")).code, 2);
    assert.equal((await nodelet(node, "-o", "xml", "pods")).code, 2);
  });
});

describe("the admin socket", () => {
  let dir: string;
  let node: TestNode;
  let socket: string;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "nodelet-socket-"));
    await chmod(dir, 0o755);
    socket = join(dir, "kubelet.sock");
    node = await startNode({ flags: [`--admin-socket=${socket}`, `--admin-socket-group=${GROUP}`] });
    await waitFor(async () => (await stat(socket).catch(() => undefined)) !== undefined, { what: "the socket" });
  });
  after(async () => {
    await node.stop();
    await rm(dir, { recursive: true, force: true });
  });

  test("only root and the group have rights", async () => {
    const { mode, uid, gid } = await stat(socket);
    assert.equal((mode & 0o777).toString(8), "660");
    assert.deepEqual([uid, gid], [0, GROUP]);
  });

  test("another user is refused, a member of the group is let in", async () => {
    const refused = await runNodelet(["--socket", socket, "pods"], { uid: NOBODY, gid: NOBODY });
    assert.equal(refused.code, 3);
    assert.match(refused.stderr, /may not use the socket.*\n.*--admin-socket-group/);
    const member = await runNodelet(["--socket", socket, "pods"], { uid: NOBODY, gid: GROUP });
    assert.equal(member.code, 0, member.stderr);
    assert.match(member.stdout, /no pods/);
  });

  test("a killed kubelet's socket is replaced by the next", async () => {
    await node.kill9();
    const gone = await runNodelet(["--socket", socket, "status"]);
    assert.equal(gone.code, 3);
    assert.match(gone.stderr, /no process responds/);
    await node.restart();
    await waitFor(async () => (await runNodelet(["--socket", socket, "pods"])).code === 0, { what: "the new socket" });
  });
});

test("with --admin-socket=none there is no socket, and the command exits with 3", async (t) => {
  const node = await startNode({ flags: ["--admin-socket=none"] });
  t.after(() => node.stop());
  const { code, stderr } = await nodelet(node, "status");
  assert.equal(code, 3);
  assert.match(stderr, /there is no socket .*nodelet\/kubelet\.sock/);
});
