// The command line that kubeadm's unit gives a kubelet, as a process: everything but the cluster must be accepted.
// @headline Configuration and manifests | kubeadm's command line works unchanged. | 1.36
// @promise Configuration and manifests: kubeadm's command line works unchanged, with the files that a join writes.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "../../support/sources-kit.js";

const ENTRY = fileURLToPath(new URL("../../../src/main/kubelet.js", import.meta.url));
const run = promisify(execFile);

/** Content of /var/lib/kubelet/config.yaml as `kubeadm init` writes it. */
const CONFIG = `apiVersion: kubelet.config.k8s.io/v1beta1
authentication:
  anonymous:
    enabled: false
  webhook:
    cacheTTL: 0s
    enabled: true
  x509:
    clientCAFile: /etc/kubernetes/pki/ca.crt
authorization:
  mode: Webhook
  webhook:
    cacheAuthorizedTTL: 0s
    cacheUnauthorizedTTL: 0s
cgroupDriver: systemd
clusterDNS:
- 10.96.0.10
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
failCgroupV1: false
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
kind: KubeletConfiguration
logging:
  flushFrequency: 0
  options:
    json:
      infoBufferSize: "0"
    text:
      infoBufferSize: "0"
  verbosity: 0
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
resolvConf: /run/systemd/resolve/resolv.conf
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`;

/** /var/lib/kubelet/kubeadm-flags.env; systemd splits an unbraced $VARIABLE at white space. */
const ENV_FILE =
  'KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///var/run/containerd/containerd.sock --node-ip=10.0.0.5 --node-labels=node.kubernetes.io/role=worker,example.com/zone=a"';

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

async function kubelet(args: readonly string[]): Promise<Ended> {
  return await run(process.execPath, [ENTRY, ...args], { timeout: 60_000 }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Ended,
  );
}

test("kubeadm's command line is taken as it is, up to the files that a join writes", async (t) => {
  const folder = await temporaryFolder(t);
  const config = join(folder, "config.yaml");
  await writeFile(config, CONFIG.replace("/etc/kubernetes/pki/ca.crt", join(folder, "ca.crt")));
  const [, words = ""] = /="(.*)"/.exec(ENV_FILE) ?? [];
  const args = [
    `--bootstrap-kubeconfig=${folder}/bootstrap-kubelet.conf`,
    `--kubeconfig=${folder}/kubelet.conf`,
    `--config=${config}`,
    ...words.split(/\s+/),
    `--root-dir=${folder}/root`,
  ];
  const checked = await kubelet([...args, "--check-config"]);
  assert.deepEqual([checked.code, checked.stdout], [1, ""], checked.stderr);
  const errors = checked.stderr
    .trimEnd()
    .split("\n")
    .filter((line) => !line.startsWith("warning: "));
  // Only the files that a join writes.
  assert.match(errors[0] ?? "", /^neither --kubeconfig \S+ nor --bootstrap-kubeconfig \S+ exists: /);
  assert.match(errors[1] ?? "", /config\.yaml:9:19: authentication\.x509\.clientCAFile: /);
  assert.equal(errors.length, 2, checked.stderr);

  const ended = await kubelet(args);
  assert.equal(ended.code, 1);
  assert.match(
    ended.stderr,
    new RegExp(`neither --kubeconfig ${folder}/kubelet.conf nor --bootstrap-kubeconfig .* exists: .*kubeadm join`),
  );
  assert.doesNotMatch(ended.stderr, /^ +at /m, "no stack for what an operator has to do");
});

test("without its config file the kubelet names the file, and its purpose", async (t) => {
  const folder = await temporaryFolder(t);
  const { code, stderr } = await kubelet([`--config=${folder}/config.yaml`, "--fail-cgroupv1=false"]);
  assert.equal(code, 1);
  assert.match(stderr, /--config: ".*\/config.yaml" cannot be read: ENOENT/);
});
