// The checks before a node starts: swap, permissions, and whether a cluster is asked for.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { checkSwap, swapDevices } from "../../../src/main/node/swap.js";
import { checkCluster } from "../../../src/main/process/cluster.js";
import { checkPermissions } from "../../../src/main/process/unix/permissions.js";
import { OperatorError } from "../../../src/shared/base/errors/operator-error.js";
import { KubeconfigError } from "../../../src/shared/kubernetes/api/client/kubeconfig/errors.js";
import { keptLog, temporaryFolder } from "../../support/sources-kit.js";

const NO_CERTIFICATES = { certDir: "/nonexistent", node: { rotateCertificates: false } };
const PAIR = "client-certificate: c.pem, client-key: k.pem";
const kubeconfig = (user: string, context = "here"): string =>
  [
    "clusters: [{name: c, cluster: {server: 'https://192.0.2.1:6443'}}]",
    `users: [{name: u, user: {${user}}}]`,
    "contexts: [{name: here, context: {cluster: c, user: u}}]",
    `current-context: ${context}`,
  ].join("\n");

const HEAD = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
const DEVICE = "/dev/sda2                               partition\t2097148\t0\t-2\n";

describe("swap", () => {
  const table: [string, string, string[]][] = [
    ["none", HEAD, []],
    ["empty file", "", []],
    ["one", HEAD + DEVICE, ["/dev/sda2"]],
    ["two", `${HEAD}${DEVICE}/swapfile file\t1\t0\t-3\n`, ["/dev/sda2", "/swapfile"]],
  ];
  for (const [name, text, expected] of table) {
    test(name, () => assert.deepEqual(swapDevices(text), expected));
  }

  test("is refused by name unless the configuration allows it", async (t) => {
    const path = join(await temporaryFolder(t), "swaps");
    await checkSwap(true, path);
    await writeFile(path, HEAD + DEVICE);
    await checkSwap(false, path);
    await assert.rejects(checkSwap(true, path), (error) => {
      assert.ok(error instanceof OperatorError);
      assert.match(error.message, /swap is on \(\/dev\/sda2\).*--fail-swap-on=false/);
      return true;
    });
  });
});

describe("permissions", () => {
  for (const [uid, root] of [
    [0, true],
    [undefined, true],
    [1000, false],
  ] as const) {
    test(`uid ${uid}`, () => {
      const { log, warnings } = keptLog();
      assert.equal(checkPermissions(uid, log), root);
      assert.deepEqual(
        warnings().map((line) => /uid 1000.*cgroups/.test(line)),
        root ? [] : [true],
      );
    });
  }
});

describe("a cluster", () => {
  const missing = "/nonexistent/kubelet.conf";
  test("is not asked for: said once", async () => {
    const { log, lines } = keptLog();
    assert.equal(await checkCluster({ ...NO_CERTIFICATES, kubeconfig: "", bootstrapKubeconfig: "" }, log), false);
    assert.deepEqual(
      lines.map(({ msg }) => msg.slice(0, 31)),
      ["Standalone mode, no API client:"],
    );
  });

  const table: [string, string, string, RegExp][] = [
    ["bootstrap only", "", missing, /--bootstrap-kubeconfig is given without --kubeconfig/],
    ["no file, no bootstrap", missing, "", /--kubeconfig \/nonexistent\/kubelet.conf does not exist.*kubeadm join/],
    ["kubeadm before init", missing, "/nonexistent/b.conf", /neither .*kubelet.conf nor .*b.conf exists.*kubeadm init/],
  ];
  const asked = (kubeconfig: string, bootstrapKubeconfig = "", more = NO_CERTIFICATES): Promise<boolean> =>
    checkCluster({ ...more, kubeconfig, bootstrapKubeconfig }, keptLog().log);
  test("is joined with a kubeconfig, or with a bootstrap kubeconfig", async (t) => {
    const folder = await temporaryFolder(t);
    const [good, bad] = [join(folder, "good.conf"), join(folder, "bad.conf")];
    await writeFile(good, kubeconfig("token: abc"));
    await writeFile(bad, "clusters: [");
    assert.ok(await asked(good));
    assert.ok(await asked(missing, good));
    assert.ok(await asked(bad, good), "it is created again");
    assert.ok(await asked(good, "/nonexistent/b.conf"), "kubeadm removes the bootstrap's after the join");
  });

  const broken: [string, string, RegExp][] = [
    ["text that is no YAML", "clusters: [", /kubeconfig \S*kubelet\.conf:/],
    ["a context that is not there", kubeconfig("token: abc", "other"), /contexts: has no "other"/],
    ["a certificate that is not there", kubeconfig(PAIR), /client-certificate: names \S*\/c\.pem, which can't be read/],
    ["a token file that is not there", kubeconfig("tokenFile: t"), /tokenFile: names \S*\/t, which can't be read/],
  ];
  for (const [name, text, message] of broken) {
    test(`is refused with ${name}, in the kubeconfig or the one to bootstrap with`, async (t) => {
      const file = join(await temporaryFolder(t), "kubelet.conf");
      await writeFile(file, text);
      for (const [one, other] of [[file], [missing, file], [file, file]] as const) {
        await assert.rejects(
          asked(one, other),
          (error) => error instanceof KubeconfigError && message.test(error.message),
        );
      }
    });
  }

  test("a path that is no regular file is refused by its kind", async (t) => {
    const folder = await temporaryFolder(t);
    const fifo = join(folder, "fifo");
    await promisify(execFile)("mkfifo", [fifo]);
    for (const [path, kind] of [
      [folder, "directory"],
      [fifo, "FIFO"],
      ["/dev/zero", "device"],
    ] as const) {
      for (const one of [asked(path), asked(missing, path)]) {
        await assert.rejects(
          one,
          (error) =>
            error instanceof OperatorError && error.message.includes(`${path} is a ${kind}, not a regular file`),
        );
      }
    }
  });

  test("a certificate that was renewed stands for the kubeconfig's", async (t) => {
    const certDir = await temporaryFolder(t);
    const file = join(certDir, "kubelet.conf");
    await writeFile(file, kubeconfig(PAIR));
    await writeFile(join(certDir, "kubelet-client-current.pem"), "");
    assert.ok(await asked(file, "", { certDir, node: { rotateCertificates: true } }));
    await assert.rejects(asked(file, "", { certDir, node: { rotateCertificates: false } }), KubeconfigError);
  });
  for (const [name, kubeconfig, bootstrapKubeconfig, message] of table) {
    test(name, async () => {
      await assert.rejects(asked(kubeconfig, bootstrapKubeconfig), (error) => {
        assert.ok(error instanceof OperatorError);
        assert.match(error.message, message);
        assert.match(error.message, /run stand-alone/);
        return true;
      });
    });
  }
});
