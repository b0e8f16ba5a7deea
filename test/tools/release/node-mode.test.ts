// Who starts the kubelet on a node with a package: the unit's program and the nodelet command decide alike, by the
// files of the machine.

import { deepEqual, equal } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { readNodeMode } from "../../../src/cli/machine/node-mode.js";
import { readUnitFacts } from "../../../src/cli/runtime/unit-facts.js";
import { ROOT } from "./project.js";

const PROGRAM = join(ROOT, "tools/deploy/systemd/start-kubelet");
const KUBEADM = "/usr/bin/kubeadm";
const ENVIRONMENT = "/etc/default/kubelet";

const ROWS: readonly (readonly [
  title: string,
  files: Readonly<Record<string, string>>,
  mode: "standalone" | "cluster",
])[] = [
  ["a fresh machine", {}, "standalone"],
  ["kubeadm is installed", { [KUBEADM]: "" }, "cluster"],
  ["kubeadm lies in /usr/local/bin", { "/usr/local/bin/kubeadm": "" }, "cluster"],
  ["the node has joined", { "/etc/kubernetes/kubelet.conf": "" }, "cluster"],
  ["a join has begun", { "/etc/kubernetes/bootstrap-kubelet.conf": "" }, "cluster"],
  ["kubeadm has written the kubelet's configuration", { "/var/lib/kubelet/config.yaml": "" }, "cluster"],
  ["kubeadm has written flags", { "/var/lib/kubelet/kubeadm-flags.env": "" }, "cluster"],
  ["static pods", { "/etc/kubernetes/manifests/web.yaml": "" }, "standalone"],
  ["static pods beside kubeadm", { [KUBEADM]: "", "/etc/kubernetes/manifests/web.yaml": "" }, "standalone"],
  [
    "pods of another source beside kubeadm",
    { [KUBEADM]: "", "/var/lib/kubelet/nodelet/pods/u.json": "" },
    "standalone",
  ],
  ["a hidden file beside kubeadm", { [KUBEADM]: "", "/etc/kubernetes/manifests/.keep": "" }, "cluster"],
  [
    "static pods of a control plane",
    { "/etc/kubernetes/kubelet.conf": "", "/etc/kubernetes/manifests/etcd.yaml": "" },
    "cluster",
  ],
  ["MODE=cluster", { [ENVIRONMENT]: "MODE=cluster\n" }, "cluster"],
  ["MODE=standalone beside kubeadm", { [KUBEADM]: "", [ENVIRONMENT]: "MODE=standalone\n" }, "standalone"],
  ["a quoted mode", { [ENVIRONMENT]: 'KUBELET_EXTRA_ARGS=--v=2\nMODE="cluster"\n' }, "cluster"],
  ["the last mode", { [ENVIRONMENT]: "MODE=cluster\nMODE='standalone'" }, "standalone"],
  ["a mode in a comment", { [ENVIRONMENT]: "# MODE=cluster\n" }, "standalone"],
  ["another variable", { [ENVIRONMENT]: "OTHER_MODE=cluster\n" }, "standalone"],
  ["an unknown mode", { [ENVIRONMENT]: "MODE=other\n", [KUBEADM]: "" }, "cluster"],
];

describe("the mode of a node", () => {
  for (const [title, files, mode] of ROWS) {
    test(`${title}: ${mode}`, async (t) => {
      const root = await mkdtemp(join(tmpdir(), "nodelet-mode-"));
      t.after(() => rm(root, { recursive: true, force: true }));
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(root, path)), { recursive: true });
        await writeFile(join(root, path), text, { mode: 0o755 });
      }
      equal(await readNodeMode(root), mode);
      equal(
        execFileSync("sh", [PROGRAM, "--mode"], { env: { ...process.env, ROOT: root }, encoding: "utf8" }),
        `${mode}\n`,
      );
    });
  }
});

test("the unit's program hands on kubeadm's flags in a cluster only, and this machine's always", async (t) => {
  const root = await mkdtemp(join(tmpdir(), "nodelet-start-"));
  t.after(() => rm(root, { recursive: true, force: true }));
  for (const folder of ["usr/bin", "etc/default", "etc/cni/net.d"])
    await mkdir(join(root, folder), { recursive: true });
  for (const name of ["kubelet", "nodelet"]) {
    await writeFile(join(root, "usr/bin", name), `#!/bin/sh\nfor word in ${name} "$@"; do echo "$word"; done\n`, {
      mode: 0o755,
    });
  }
  const started = async (mode: string, ...words: string[]): Promise<string[]> => {
    await writeFile(join(root, "etc/default/kubelet"), `MODE=${mode}\n`);
    const env = { ...process.env, ROOT: root };
    return execFileSync("sh", [PROGRAM, ...words], { env, encoding: "utf8" })
      .trim()
      .split("\n");
  };
  const alone = ["kubelet", "--config=/etc/nodelet/kubelet.yaml", "--read-only-pods=false", "--manifest-api=socket"];
  const network = ["nodelet", "doctor", "--fix"];
  deepEqual(await started("standalone", "--of-kubeadm", "--", "--v=2", "a b"), [...network, ...alone, "--v=2", "a b"]);
  deepEqual(await started("standalone", "--"), [...network, ...alone]);
  const docker = "--container-runtime=docker";
  deepEqual(await started("standalone", "--", docker), [...alone, docker], "Docker has a network of its own");
  const cluster = [
    "kubelet",
    "--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf",
    "--kubeconfig=/etc/kubernetes/kubelet.conf",
    "--config=/var/lib/kubelet/config.yaml",
  ];
  deepEqual(await started("cluster", "--x=a b", "--", "--v=2"), [...cluster, "--x=a b", "--v=2"]);
  await writeFile(join(root, "etc/cni/net.d/05-mine.conflist"), "");
  deepEqual(await started("standalone", "--"), alone, "a network is configured");
});

describe("beside kubeadm's drop-in, the generator of systemd", () => {
  const DROP_IN = "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf";
  const GENERATOR = "/usr/lib/systemd/system-generators/nodelet-generator";
  const START = "/usr/lib/nodelet/start-kubelet";
  const OUT = "/run/systemd/generator";
  const OWN = `${OUT}/kubelet.service.d/50-nodelet-standalone.conf`;

  const rows: readonly (readonly [title: string, files: Readonly<Record<string, string>>, own: boolean])[] = [
    ["MODE=standalone", { [ENVIRONMENT]: "MODE=standalone\n" }, true],
    ["static pods of a stand-alone node", { "/etc/kubernetes/manifests/web.yaml": "" }, true],
    ["nothing else", {}, false],
    ["MODE=cluster and static pods", { [ENVIRONMENT]: "MODE=cluster", "/etc/kubernetes/manifests/a.yaml": "" }, false],
    ["a control plane", { "/etc/kubernetes/kubelet.conf": "", "/etc/kubernetes/manifests/etcd.yaml": "" }, false],
  ];
  const machine = async (files: Readonly<Record<string, string>>): Promise<string> => {
    const root = await mkdtemp(join(tmpdir(), "nodelet-generator-"));
    for (const [path, text] of Object.entries({ [KUBEADM]: "", ...files })) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text, { mode: 0o755 });
    }
    for (const [path, name] of [
      [START, "start-kubelet"],
      [GENERATOR, "nodelet-generator"],
    ] as const) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await copyFile(join(ROOT, "tools/deploy/systemd", name), join(root, path));
      await chmod(join(root, path), 0o755);
    }
    return root;
  };
  const generate = (root: string): string =>
    execFileSync("sh", [join(root, GENERATOR), join(root, OUT)], {
      env: { ...process.env, ROOT: root },
      encoding: "utf8",
    });

  for (const [title, files, own] of rows) {
    test(`${own ? "takes the unit's own command line back for" : "leaves the command line to"} ${title}`, async (t) => {
      const root = await machine({ ...files, [DROP_IN]: "" });
      t.after(() => rm(root, { recursive: true, force: true }));
      const mode = own ? "standalone" : "cluster";
      deepEqual(await readUnitFacts(root), { mode, kubeadmDropIn: true, ownDropIn: false });
      equal(generate(root), "");
      deepEqual(await readUnitFacts(root), { mode, kubeadmDropIn: true, ownDropIn: own });
      if (!own) return;
      const lines = (await readFile(join(root, OWN), "utf8"))
        .split("\n")
        .filter((line) => line.startsWith("ExecStart="));
      deepEqual(lines, ["ExecStart=", `ExecStart=${START} $KUBELET_KUBEADM_ARGS -- $KUBELET_EXTRA_ARGS`]);
    });
  }

  test("writes nothing where there is no such drop-in, or where the package is only half installed", async (t) => {
    const root = await machine({ [ENVIRONMENT]: "MODE=standalone\n" });
    t.after(() => rm(root, { recursive: true, force: true }));
    generate(root);
    deepEqual(await readUnitFacts(root), { mode: "standalone", kubeadmDropIn: false, ownDropIn: false });
    await mkdir(dirname(join(root, DROP_IN)), { recursive: true });
    await writeFile(join(root, DROP_IN), "");
    await rm(join(root, START));
    generate(root);
    deepEqual(await readUnitFacts(root), { mode: "standalone", kubeadmDropIn: true, ownDropIn: false });
    await rm(join(root, GENERATOR));
    equal(await readUnitFacts(root), undefined, "the unit is not that of a package");
  });
});
