// --check-config examines the files that the configuration and the flags name: an error where upstream's kubelet does
// not start, a warning where it does. One line each, and nothing is written.

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { loadSettings } from "../../../src/main/command/settings.js";
import { answerCheck, type CheckAnswer } from "../../../src/main/process/check-config/answer.js";
import { commandIo } from "../../../src/main/process/unix/command-io.js";
import { HEAD } from "../../support/config-kit.js";
import { certFolder } from "../../support/test-certs.js";

const certs = await certFolder();
const ca = await certs.ca("ca");
const pair = await ca.issue("/CN=node");
const other = await ca.issue("/CN=other");
const base = await mkdtemp(join(tmpdir(), "check-config-"));
const socket = join(base, "runtime.sock");
const runtime = createServer().listen(socket);
after(async () => {
  runtime.close();
  await certs.remove();
  await rm(base, { recursive: true });
});
await writeFile(join(base, "file"), "text");
await writeFile(join(base, "resolv.conf"), "");
await mkdir(join(base, "folder"));
await symlink("loop", join(base, "loop"));
const KUBECONFIG = `{clusters: [{name: a, cluster: {server: "https://127.0.0.1:1"}}], contexts: [{name: a, context: {cluster: a, user: a}}],
  current-context: a, users: [{name: a, user: {token: x}}]}`;
await writeFile(join(base, "kubeconfig"), KUBECONFIG);
await writeFile(
  join(base, "keyless"),
  KUBECONFIG.replace("token: x", "client-certificate: /none.crt, client-key: /none.key"),
);
const PROVIDERS = `{apiVersion: kubelet.config.k8s.io/v1, kind: CredentialProviderConfig, providers: [{name: getter,
  apiVersion: credentialprovider.kubelet.k8s.io/v1, matchImages: [a.example], defaultCacheDuration: 1m}]}`;
await writeFile(join(base, "providers.yaml"), PROVIDERS);
const FINE = { containerRuntimeEndpoint: `unix://${socket}`, resolvConf: join(base, "resolv.conf") };

async function check(config: Record<string, unknown>, flags: readonly string[] = []): Promise<CheckAnswer> {
  const file = join(base, "config.yaml");
  const fields = Object.entries({ ...FINE, ...config }).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  await writeFile(file, `${HEAD}${fields.join("")}`);
  const dirs = [`--root-dir=${base}/root`, `--cert-dir=${base}/pki`];
  const request = await loadSettings(["--check-config", `--config=${file}`, ...dirs, ...flags], commandIo);
  ok(request.action === "check", JSON.stringify(request));
  return await answerCheck(request);
}

const CNI = ["--container-runtime=docker", "--docker-endpoint=unix://@/none", "--network-plugin=cni"];
/** A path below the test's folder is `@/…`. */
type Row = readonly [name: string, config: Record<string, unknown>, flags: readonly string[], line: string];

const at = (text: string): string => text.replaceAll("@", base);
const rowsOf = (rows: readonly Row[], run: (row: Row) => Promise<void>): void => {
  for (const row of rows) test(row[0], () => run(row));
};

const x509 = (clientCAFile: string): Record<string, unknown> => ({ authentication: { x509: { clientCAFile } } });

describe("what upstream's kubelet does not start with", () => {
  rowsOf(
    [
      [
        "no kubeconfig",
        {},
        ["--kubeconfig=@/none"],
        "--kubeconfig @/none does not exist, and there is no --bootstrap-kubeconfig",
      ],
      [
        "neither kubeconfig",
        {},
        ["--kubeconfig=@/none", "--bootstrap-kubeconfig=@/none2"],
        "neither --kubeconfig @/none nor --bootstrap-kubeconfig @/none2 exists: ",
      ],
      [
        "a kubeconfig whose files are missing",
        {},
        ["--kubeconfig=@/keyless"],
        "kubeconfig @/keyless: client-certificate: names /none.crt, ",
      ],
      ["no kubeconfig in YAML", {}, ["--kubeconfig=@/file"], "kubeconfig @/file"],
      [
        "no CA of clients",
        x509("@/none"),
        [],
        "@/config.yaml:5:41: authentication.x509.clientCAFile: @/none does not exist; ",
      ],
      ["a CA that is a folder", x509("@/folder"), [], "authentication.x509.clientCAFile: @/folder is no file; "],
      [
        "a CA that is no certificate",
        x509("@/file"),
        [],
        "authentication.x509.clientCAFile: @/file has no certificate in PEM; ",
      ],
      ["a CA behind a circle of links", x509("@/loop"), [], "authentication.x509.clientCAFile: ELOOP: "],
      [
        "no certificate",
        { tlsCertFile: "@/none", tlsPrivateKeyFile: pair.keyFile },
        [],
        "tlsCertFile: @/none does not exist; ",
      ],
      [
        "no key",
        { tlsCertFile: pair.certFile, tlsPrivateKeyFile: "@/none" },
        [],
        "tlsPrivateKeyFile: @/none does not exist; ",
      ],
      [
        "a certificate without a key",
        { tlsCertFile: pair.certFile },
        [],
        "tlsCertFile: tlsPrivateKeyFile is not given; ",
      ],
      [
        "a key of another certificate",
        { tlsCertFile: pair.certFile, tlsPrivateKeyFile: other.keyFile },
        [],
        "tlsPrivateKeyFile: ",
      ],
      [
        "a key that is none",
        { tlsCertFile: pair.certFile, tlsPrivateKeyFile: "@/file" },
        [],
        "tlsPrivateKeyFile: @/file has no private key in PEM; ",
      ],
      [
        "no folder of credential providers",
        {},
        ["--image-credential-provider-config=@/providers.yaml", "--image-credential-provider-bin-dir=@/none"],
        "--image-credential-provider-bin-dir: @/none does not exist; ",
      ],
      [
        "no configuration of credential providers",
        {},
        ["--image-credential-provider-config=@/none", "--image-credential-provider-bin-dir=@/folder"],
        "--image-credential-provider-config: image credential providers: @/none can't be read: ",
      ],
      [
        "a credential provider that is not installed",
        {},
        ["--image-credential-provider-config=@/providers.yaml", "--image-credential-provider-bin-dir=@/folder"],
        "--image-credential-provider-config: image credential providers: the plugin @/folder/getter is not there or not executable",
      ],
      [
        "half of the credential providers",
        {},
        ["--image-credential-provider-bin-dir=@/folder"],
        "is given without --image-credential-provider-config",
      ],
      ["no folder for the lock file", {}, ["--lock-file=@/none/lock"], "--lock-file: @/none does not exist; "],
      ["a lock file that is a folder", {}, ["--lock-file=@/folder"], "--lock-file: @/folder is a folder; "],
      [
        "a root directory below a file",
        {},
        ["--root-dir=@/file/root"],
        "--root-dir: the folder @/file/root cannot be made: @/file is no folder",
      ],
      [
        "certificates below a file",
        {},
        ["--cert-dir=@/file"],
        "--cert-dir: the folder @/file cannot be made: @/file is no folder; ",
      ],
      [
        "logs of pods below a file",
        { podLogsDir: "@/file/logs" },
        [],
        "podLogsDir: the folder @/file/logs cannot be made: @/file is no folder",
      ],
    ],
    async ([, config, flags, line]) => {
      const { out, err, exitCode } = await check(
        JSON.parse(at(JSON.stringify(config))) as typeof config,
        flags.map(at),
      );
      deepEqual([out, exitCode], ["", 1], err);
      ok(err.includes(at(line)), err);
      equal(err.trimEnd().split("\n").length, 1, err);
    },
  );
});

describe("what upstream's kubelet starts with", () => {
  rowsOf(
    [
      [
        "no folder of static pods",
        { staticPodPath: "@/none" },
        [],
        "staticPodPath: @/none does not exist: no static pod runs until it does; ",
      ],
      [
        "a folder of static pods without its parent",
        { staticPodPath: "@/none/pods" },
        [],
        "staticPodPath: @/none/pods does not exist: ",
      ],
      [
        "static pods that are a socket",
        { staticPodPath: "@/runtime.sock" },
        [],
        "staticPodPath: @/runtime.sock is neither a folder nor a file: ",
      ],
      [
        "no resolver file",
        { resolvConf: "@/none" },
        [],
        "resolvConf: @/none does not exist: pods that use the node's DNS do not start; ",
      ],
      ["a resolver file that is a folder", { resolvConf: "@/folder" }, [], "resolvConf: @/folder is no file: "],
      ["flexVolume drivers in a file", { volumePluginDir: "@/file" }, [], "volumePluginDir: @/file is no folder: "],
      [
        "a runtime that is a file",
        { containerRuntimeEndpoint: "unix://@/file" },
        [],
        "containerRuntimeEndpoint: @/file is no socket: ",
      ],
      [
        "an admin socket below a file",
        {},
        ["--admin-socket=@/file/s"],
        "--admin-socket: @/file is no folder: the nodelet command ",
      ],
      ["an admin socket that is a folder", {}, ["--admin-socket=@/folder"], "--admin-socket: @/folder is a folder: "],
      ["a relative admin socket", {}, ["--admin-socket=s"], "--admin-socket: s is not absolute: "],
      [
        "a group of the admin socket that does not exist",
        {},
        ["--admin-socket-group=nobodys"],
        '--admin-socket-group: the group "nobodys" is not in /etc/group: ',
      ],
      [
        "a Docker Engine that is a file",
        {},
        ["--container-runtime=docker", "--docker-endpoint=unix://@/file"],
        "--docker-endpoint: @/file is no socket: ",
      ],
      [
        "no folder of CNI configurations",
        {},
        [...CNI, "--cni-conf-dir=@/none", "--cni-bin-dir=@/folder"],
        "--cni-conf-dir: @/none does not exist: ",
      ],
      [
        "no folder of CNI programs",
        {},
        [...CNI, "--cni-conf-dir=@/folder", "--cni-bin-dir=@/none,@/file"],
        "--cni-bin-dir: @/none does not exist, @/file is no folder: ",
      ],
    ],
    async ([, config, flags, line]) => {
      const { out, err, exitCode } = await check(
        JSON.parse(at(JSON.stringify(config))) as typeof config,
        flags.map(at),
      );
      deepEqual([out, exitCode], [`ok\n${base}/config.yaml\n`, 0], err);
      match(err, /^warning: /);
      ok(err.includes(at(line)), err);
      equal(err.trimEnd().split("\n").length, 1, err);
    },
  );
});

describe("a configuration whose files are there", () => {
  test("it is ok without a line, and nothing was written", async () => {
    const before = (await readdir(base)).toSorted();
    const config = {
      ...{ ...x509(ca.certFile), tlsCertFile: pair.certFile, tlsPrivateKeyFile: pair.keyFile },
      ...{ staticPodPath: join(base, "folder"), volumePluginDir: join(base, "none") },
    };
    const flags = [`--kubeconfig=${base}/kubeconfig`, `--lock-file=${base}/lock`, `--dynamic-config-dir=${base}/a/b`];
    const { out, err, exitCode } = await check(config, flags);
    deepEqual([out, err, exitCode], [`ok\n${base}/config.yaml\n`, "", 0]);
    deepEqual((await readdir(base)).toSorted(), [...new Set([...before, "config.yaml"])].toSorted());
  });

  test("a missing kubeconfig is no error where a bootstrap kubeconfig makes one", async () => {
    const flags = [`--kubeconfig=${base}/none`, `--bootstrap-kubeconfig=${base}/kubeconfig`];
    deepEqual((await check({}, flags)).err, "");
  });

  test("a socket that is missing is no fault: the kubelet waits for its runtime", async () => {
    const config = { containerRuntimeEndpoint: `unix://${base}/none`, imageServiceEndpoint: `unix://${base}/none` };
    deepEqual((await check(config)).err, "");
  });

  test("fields without a file, and an empty resolvConf, name none", async () => {
    deepEqual((await check({ resolvConf: "", staticPodPath: "" })).err, "");
  });
});

test("problems of the configuration and of files come in one report", async () => {
  const { err, exitCode } = await check({
    nonsense: 1,
    staticPodPath: join(base, "none"),
    ...x509(join(base, "none")),
  });
  equal(exitCode, 1);
  const [unknown, authority, pods, ...rest] = err.trimEnd().split("\n");
  match(unknown ?? "", /nonsense: unknown field/);
  match(authority ?? "", /clientCAFile: .* does not exist/);
  match(pods ?? "", /^warning: .*staticPodPath: /);
  deepEqual(rest, []);
});
