// A kubeconfig that can't be used is named before anything is started.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { checkKubeconfigs } from "../../../src/main/process/check-kubeconfigs.js";
import { temporaryFolder } from "../../support/sources-kit.js";

const GOOD = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: https://127.0.0.1:6443}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;
const WITHOUT_CONTEXT = "apiVersion: v1\nkind: Config\n";

const rows: { what: string; kubeconfig?: string; bootstrap?: string; expected?: RegExp; tolerated?: RegExp }[] = [
  { what: "a good one", kubeconfig: GOOD },
  { what: "a valid one without its bootstrap", kubeconfig: GOOD, bootstrap: "" },
  {
    what: "one whose user is not there",
    kubeconfig: GOOD.replace("name: u", "name: v"),
    tolerated: /kubelet\.conf.*users: has no "u", the user of the current context; there is "v"/,
  },
  {
    what: "one with a token for plain HTTP",
    kubeconfig: GOOD.replace("https:", "http:"),
    tolerated: /server: is not https: no credentials are sent to it/,
  },
  { what: "none yet, a good bootstrap", bootstrap: GOOD },
  { what: "an invalid one that the bootstrap replaces", kubeconfig: WITHOUT_CONTEXT, bootstrap: GOOD },
  { what: "a broken one", kubeconfig: WITHOUT_CONTEXT, expected: /kubelet\.conf.*current-context: is missing/ },
  { what: "a broken bootstrap", bootstrap: WITHOUT_CONTEXT, expected: /bootstrap\.conf.*current-context: is missing/ },
  {
    what: "an invalid one without its bootstrap",
    kubeconfig: WITHOUT_CONTEXT,
    bootstrap: "",
    expected:
      /bootstrap\.conf: can't be read: ENOENT.*; it is needed since kubeconfig .*kubelet\.conf.*: current-context: is missing/,
  },
  {
    what: "one that names a file that is not there",
    kubeconfig: GOOD.replace("token: t", "client-certificate: /nowhere/a.pem, client-key: /nowhere/a.key"),
    expected: /client-certificate: names \/nowhere\/a\.pem, which can't be read/,
  },
];

for (const { what, kubeconfig, bootstrap, expected, tolerated } of rows) {
  test(`${what}: ${expected === undefined ? "taken" : "refused"}`, async (t) => {
    const folder = await temporaryFolder(t);
    const files = { kubeconfig: join(folder, "kubelet.conf"), bootstrapKubeconfig: join(folder, "bootstrap.conf") };
    if (kubeconfig !== undefined) await writeFile(files.kubeconfig, kubeconfig);
    if (bootstrap !== undefined && bootstrap !== "") await writeFile(files.bootstrapKubeconfig, bootstrap);
    const problems: string[] = [];
    const checked = checkKubeconfigs(
      {
        kubeconfig: files.kubeconfig,
        bootstrapKubeconfig: bootstrap === undefined ? "" : files.bootstrapKubeconfig,
        certDir: folder,
        node: { rotateCertificates: true },
        joined: kubeconfig !== undefined,
      },
      ({ message }) => problems.push(message),
    );
    if (expected === undefined) await checked;
    else await assert.rejects(checked, expected);
    assert.match(problems.join("\n"), tolerated ?? /^$/);
  });
}
