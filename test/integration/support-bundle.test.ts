// nodelet support-bundle and the checks of doctor about pods, through the executable: a node with broken pods, a
// runtime with secrets in its configuration, programs that hang; and a machine without a kubelet.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import type { Result } from "../../src/cli/doctor/check.js";
import { startNode, type TestNode } from "../harness/node.js";
import { nodelet, runNodelet } from "../support/nodelet-command.js";
import { IDLE, manifest, shell, waitForPod } from "../support/static-pods.js";

const run = promisify(execFile);

/** Names of the parts and their texts. */
async function unpacked(file: string, folder: string): Promise<(part: string) => Promise<string>> {
  await mkdir(folder);
  await run("tar", ["-xzf", file, "-C", folder, "--strip-components=1"]);
  return (part) => readFile(join(folder, part), "utf8");
}

describe("a support bundle of a node", () => {
  let node: TestNode;
  let bundle: (part: string) => Promise<string>;
  let all: string;
  let stdout: string;

  before(async () => {
    node = await startNode({ containerd: "own" });
    const { dir } = node.kubelet;
    const containerd = node.containerd?.dir ?? "";
    const env = [{ name: "DB_PASSWORD", value: "s3cret-of-a-pod" }];
    await node.writeManifest("fine", manifest("fine", [shell("app", IDLE, { env })]));
    await node.writeManifest("crash", manifest("crash", [shell("app", "echo s3cret-output; exit 3", { env })]));
    await node.writeManifest("refused", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: s3cret_Name\n");
    await writeFile(
      join(containerd, "cni/conf/99-secret.conflist"),
      '{"name":"x","plugins":[{"type":"x","k8s_auth_token":"s3cret-of-cni"}]}',
    );
    await writeFile(join(containerd, "cni/conf/98-broken.conf"), '{"token": "s3cret-broken"');
    await promisify(execFile)("mkfifo", [join(containerd, "cni/conf/97-pipe.conf")]);
    const config = join(containerd, "config.toml");
    const cri = (await readFile(config, "utf8")).includes("version = 3")
      ? "io.containerd.cri.v1.images"
      : "io.containerd.grpc.v1.cri";
    const login = `[plugins."${cri}".registry.configs."reg.example".auth]\nusername = "s3cret-user"\npassword = "s3cret-of-registry"\n`;
    await writeFile(config, `${await readFile(config, "utf8")}\n# password = "s3cret-comment"\n${login}`);
    await waitForPod(node, "fine", ({ status }) => status?.phase === "Running", "running");
    await waitForPod(
      node,
      "crash",
      ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0,
      "restarted",
    );

    const bin = join(dir, "bin");
    await mkdir(bin);
    const program = async (name: string, text: string): Promise<void> => {
      await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`);
      await chmod(join(bin, name), 0o755);
    };
    await program("systemctl", "exec sleep 1000");
    await program("dmesg", "exec yes 'Out of memory: Killed process 1 (x), token=s3cret-dmesg'");
    await program("journalctl", "echo 'I0101 registry answered: s3cret-of-registry and s3cret-of-a-pod'");
    const file = join(dir, "bundle.tar.gz");
    const result = await runNodelet(["--root-dir", node.kubelet.rootDir, "support-bundle", "--file", file], { bin });
    assert.equal(result.code, 0, result.stderr);
    stdout = result.stdout;
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    bundle = await unpacked(file, join(dir, "unpacked"));
    const { stdout: text } = await run("tar", ["-xzOf", file], { maxBuffer: 256 * 1024 * 1024 });
    all = text;
  });
  after(() => node.stop());

  test("no secret of a pod, a registry, a CNI file or a log is in any part", () => {
    assert.deepEqual([...new Set(all.match(/.{0,60}s3cret[\w-]*/g))], []);
  });

  test("a program that hangs is named, and the parts beside it are there", async () => {
    assert.match(await bundle("kubelet-unit.txt"), /systemctl gave no response within 10 s, killed/);
    assert.match(await bundle("contents.txt"), /^status\.json +[\d.]+ \w+ +\d+ ms$/m);
    assert.match(stdout, /^wrote .*bundle\.tar\.gz .*contents\.txt, doctor\.txt/);
  });

  test("the broken pod is explained, the refused manifest has its place", async () => {
    assert.match(
      await bundle("why.txt"),
      /^default\/crash-testnode is (?:not running: (?:CrashLoopBackOff|Error)|restarting: )/m,
    );
    assert.match(await bundle("why.txt"), /exited with code 3/);
    const manifests = await bundle("manifests.txt");
    assert.match(manifests, /refused\.yaml: refused\n(?: {2}.*\n)* {2}line 4, column 9: metadata\.name: invalid value/);
    assert.match(manifests, /fine\.yaml: default\/fine-testnode/);
    assert.match(
      await bundle("doctor.txt"),
      /^error +manifests: manifest .*refused\.yaml:1:1: .*line 4: metadata\.name: invalid value \*\*\*/m,
    );
  });

  test("runtime, CNI, versions, mounts and logs are there", async () => {
    const config = await bundle("runtime-config.txt");
    assert.match(config, /"username": "\*\*\*"/);
    assert.match(config, /"sandbox(?:_image)?": ".*pause/);
    assert.match(config, /== in effect/);
    const cni = await bundle("cni.txt");
    assert.match(cni, /"type": "host-local"/);
    assert.match(cni, /98-broken\.conf\n\(left out: it is no valid JSON/);
    assert.doesNotMatch(cni, /97-pipe/);
    assert.match(await bundle("versions.txt"), /containerd: containerd /);
    assert.match(await bundle("mounts.txt"), / - proc proc /);
    assert.match(await bundle("kubelet-memory.log"), /Kubelet version/);
    assert.match(await bundle("kubelet.log"), /registry answered/);
  });

  test("doctor names the refused file, the sandbox image and free addresses", async () => {
    const { stdout: printed, code } = await nodelet(node, "-o", "json", "doctor");
    const { results } = JSON.parse(printed) as { results: Result[] };
    const of = (check: string): Result[] => results.filter((one) => one.check === check);
    assert.equal(code, 1);
    assert.deepEqual(
      of("manifests").map(({ severity }) => severity),
      ["error", "ok"],
    );
    assert.match(of("sandbox image")[0]?.found ?? "", /is here$/);
    assert.match(of("pod addresses")[0]?.found ?? "", /^\d+ of \d+ in [\d.]+\/\d+ are free$/);
    assert.deepEqual(of("kubelet").length, 1);
  });
});

test("without a kubelet the bundle has the machine, and says that nothing responds", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "nodelet-bundle-"));
  t.after(() => rm(dir, { recursive: true }));
  const file = join(dir, "bundle.tar.gz");
  const { code, stdout } = await runNodelet(["--socket", join(dir, "none"), "support-bundle", "--file", file]);
  assert.equal(code, 0);
  assert.match(stdout, /there is no socket .*: (?:[\w.-]+, )*status\.json/);
  const bundle = await unpacked(file, join(dir, "unpacked"));
  assert.match(await bundle("doctor.txt"), /^warning kubelet: there is no socket/m);
  assert.match(await bundle("versions.txt"), /== os-release\nPRETTY_NAME=/);
  assert.match(await bundle("status.json"), /^not available: there is no socket/);
});
