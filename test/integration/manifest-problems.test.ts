// Refused, shadowed and warned manifests on a whole kubelet: every kind is in `nodelet pods`, `status` and `why`, in an
// event and a metric, until it is mended or removed, and after a restart of the kubelet too.
// @promise Configuration and manifests: Refused manifests of twelve kinds, shadowed and warned ones are shown by
//   `nodelet pods`, `status` and `why`, on the page, as an event once per content and by a metric, until they are
//   mended and after a restart.
// @with test/main/pods/sources/manifest-reporter.test.ts, test/cli/manifests/manifests.test.ts

import assert from "node:assert/strict";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { NodeletStatus } from "../../src/shared/contracts/nodelet.js";
import type { Event } from "../../src/shared/kubernetes/api/event.js";
import { startNode, waitFor, type TestNode } from "../harness/node.js";
import { startBrowser } from "../support/browser.js";
import { orderFault } from "../support/fault-orders.js";
import { freePort } from "../support/free-port.js";
import { nodelet } from "../support/nodelet-command.js";
import { IDLE, manifest, PATIENCE_MS, shell, waitForPod } from "../support/static-pods.js";

/** YAML of a pod that may run, with `change` made to it. */
const yaml = (name: string, change: (text: string) => string = (text) => text): string =>
  change(`apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  containers:
  - name: app
    image: busybox
`);

/** Each makes no pod: file name without ending, text, and what `nodelet why` says of it. */
const REFUSED: readonly (readonly [name: string, content: string | Buffer, words: RegExp])[] = [
  [
    "yamlerr",
    yaml("yamlerr", (text) => text.replace("name: app", "name: app: x")),
    /yamlerr\.yaml:7:14: syntax: .*in quotes/,
  ],
  [
    "indent",
    yaml("indent", (text) => text.replace("    image", "   image")),
    /indent\.yaml:8:\d+: syntax: .*indentation/,
  ],
  ["badname", yaml("My_Pod"), /badname\.yaml:4:9: metadata\.name: invalid value "My_Pod"/],
  [
    "deployment",
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n",
    /"Deployment"; allowed: Pod.*pods only/,
  ],
  [
    "noimage",
    yaml("noimage", (text) => text.replace("    image: busybox\n", "")),
    /spec\.containers\[0\]\.image: required value/,
  ],
  [
    "configmap",
    `${yaml("configmap")}    envFrom:\n    - configMapRef: {name: x}\n`,
    /may not reference configmaps.*hostPath/,
  ],
  ["secret", `${yaml("secret")}  volumes:\n  - name: s\n    secret: {secretName: x}\n`, /may not reference secrets/],
  [
    "claim",
    `${yaml("claim")}  volumes:\n  - name: c\n    persistentVolumeClaim: {claimName: x}\n`,
    /persistentvolumeclaims/,
  ],
  ["empty", "", /the file is empty/],
  ["binary", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 0xc0, 0xff]), /syntax: .*texts have no such bytes/],
  ["latin", Buffer.from("# M\xfcll\n", "latin1"), /syntax: .*it is no text: remove it .*save it as UTF-8/],
  ["large", Buffer.alloc(10 * 1024 * 1024 + 1, 0x20), /at most 10 MiB/],
  ["dangling", "", /its symbolic link leads nowhere/],
];

interface PodsJson {
  manifests: {
    origin: string;
    state: string;
    namespace: string;
    problems: { line: number; column: number; message: string }[];
  }[];
}

describe("manifests with problems", () => {
  let node: TestNode;
  let server: Server;
  let folder: string;
  let pagePort: number;

  before(async () => {
    // The URL has a pod with the name of a file's pod.
    const served = JSON.stringify(manifest("first", [shell("app", IDLE)]));
    server = createServer((_request, response) => response.end(served)).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const staticPodURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
    pagePort = await freePort();
    node = await startNode({
      env: { NODELET_FAULTS: "1" },
      flags: [`--status-page-port=${pagePort}`],
      config: { staticPodURL, httpCheckFrequency: "1s", fileCheckFrequency: "2s" },
      start: false,
    });
    folder = node.kubelet.manifests;
    await node.writeManifest("first", manifest("first", [shell("app", IDLE)]));
    await node.restart();
  });
  after(async () => {
    server.close();
    await node.stop();
  });

  const json = async <T>(...args: string[]): Promise<T> =>
    JSON.parse((await nodelet(node, ...args, "-o", "json")).stdout) as T;
  const rows = async (): Promise<string[]> =>
    (await json<PodsJson>("pods")).manifests.map(({ origin, state }) => `${origin.replace(`${folder}/`, "")} ${state}`);
  const untilRows = async (expected: readonly string[]): Promise<void> => {
    let seen: string[] = [];
    const sorted = [...expected].sort();
    await waitFor(
      async () => {
        seen = (await rows()).sort();
        return JSON.stringify(seen) === JSON.stringify(sorted);
      },
      { what: `the rows ${sorted.join(", ")}`, timeoutMs: PATIENCE_MS, lastSeen: () => seen.join(", ") },
    );
  };
  /** One of the two pods named first runs: the sources are read at the same time. */
  let twin: string;
  const all = (): string[] => [...REFUSED.map(([name]) => `${name}.yaml InvalidManifest`), twin];

  const metric = async (name: string): Promise<string | undefined> =>
    new RegExp(`^${name} (\\d+)`, "m").exec(await (await fetch(`${node.kubelet.url}/metrics`)).text())?.[1];

  test("two sources with one pod: the second is shadowed, and the other says so", async () => {
    await waitForPod(node, "first", ({ status }) => status?.phase === "Running", "running");
    await waitFor(async () => (await rows()).length === 1, { what: "a shadowed manifest", timeoutMs: PATIENCE_MS });
    [twin = ""] = await rows();
    assert.match(twin, /^(first\.yaml|http:\S+) ShadowedManifest$/);
    const { code, stdout } = await nodelet(node, "why", "first");
    assert.match(stdout.replace(/\s+/g, " "), /is running and ready manifest: another manifest wants this name: /);
    assert.equal(code, 0);
    assert.equal(await metric("nodelet_manifests_shadowed"), "1");
  });

  test("each kind of refused file is a row and is explained by its name, its file and its path", async () => {
    for (const [name, content] of REFUSED) {
      const path = join(folder, `${name}.yaml`);
      if (name === "dangling") await symlink("/nonexistent", path);
      else await writeFile(path, content);
    }
    await mkdir(join(folder, "folder"));
    await untilRows(all());
    for (const [name, , words] of REFUSED) {
      for (const named of [name, `${name}.yaml`, join(folder, `${name}.yaml`)]) {
        const { code, stdout } = await nodelet(node, "why", named);
        assert.match(stdout.replace(/\s+/g, " "), words, named);
        assert.match(stdout, /(is refused|cannot be read) \(InvalidManifest\)/);
        assert.equal(code, 1);
      }
    }
    assert.match((await nodelet(node, "why", "My_Pod")).stdout, /badname\.yaml:4:9/);
    const status = await nodelet(node, "status");
    assert.match(
      status.stdout.replace(/\s+/g, " "),
      /error: manifest \S+badname\.yaml:4:9 is refused: metadata\.name: /,
    );
    assert.equal(status.code, 1);
    const table = await nodelet(node, "pods");
    assert.match(table.stdout.replace(/\s+/g, " "), / default yamlerr\.yaml 0\/0 InvalidManifest /);
    assert.equal(table.code, 1);
    const { manifests } = await json<PodsJson>("pods");
    const badname = manifests.find(({ origin }) => origin.endsWith("badname.yaml"));
    assert.deepEqual([badname?.problems[0]?.line, badname?.problems[0]?.column, badname?.namespace], [4, 9, "default"]);
    await waitFor(async () => (await metric("nodelet_manifests_refused")) === String(REFUSED.length), {
      what: "the metric",
    });
  });

  test("the status page lists them with place and reason", async (t) => {
    const browser = await startBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(`http://127.0.0.1:${pagePort}/ui/`);
    const row = page.getByRole("row").filter({ hasText: "badname.yaml" });
    await row.getByText("InvalidManifest").waitFor();
    await row.getByText(/badname\.yaml:4:9: metadata\.name: invalid value "My_Pod"/).waitFor();
  });

  test("a restart of the kubelet shows them again, and each content makes one event", async () => {
    await node.restart();
    await untilRows(all());
    // Scans go on meanwhile.
    await waitFor(
      async () => {
        const { items } = await json<{ items: Event[] }>("events", "--warnings");
        const about = items.filter(
          ({ reason, message }) => reason === "InvalidManifest" && message.includes("binary.yaml"),
        );
        return about.length === 1 && about[0]?.count === 1;
      },
      { what: "one event about binary.yaml", timeoutMs: PATIENCE_MS },
    );
  });

  test("a restart of the server's thread shows them again", async () => {
    const starts = async (): Promise<number> => {
      const { threads } = await json<NodeletStatus>("status");
      return threads.find(({ name }) => name === "server")?.starts ?? 0;
    };
    const before = await starts();
    await orderFault(node, "terminate server");
    // The socket is away for a moment.
    await waitFor(
      () =>
        starts().then(
          (now) => now > before,
          () => false,
        ),
      {
        what: "the server's next thread",
        timeoutMs: PATIENCE_MS,
      },
    );
    await untilRows(all());
  });

  test("a mended file runs, a removed one is forgotten, and a broken edit leaves the pod and says so", async () => {
    await node.writeManifest("yamlerr", manifest("yamlerr", [shell("app", IDLE)]));
    await waitForPod(node, "yamlerr", ({ status }) => status?.phase === "Running", "running");
    for (const [name] of REFUSED) if (name !== "yamlerr") await rm(join(folder, `${name}.yaml`));
    await untilRows([twin]);
    assert.equal((await nodelet(node, "why", "badname")).code, 1);
    await writeFile(
      join(folder, "yamlerr.yaml"),
      yaml("yamlerr", (text) => text.replace("kind: Pod", "kind: Pot")),
    );
    await untilRows([twin, "yamlerr.yaml InvalidManifest"]);
    const { code, stdout } = await nodelet(node, "why", "yamlerr");
    assert.match(
      stdout.replace(/\s+/g, " "),
      /is running and ready manifest: its manifest is refused in its present version: .*:2:7: kind: /,
    );
    assert.equal(code, 1);
    await node.removeManifest("yamlerr");
    await untilRows([twin]);
  });

  test("an ignored field is a warning of its pod, before everything else", async () => {
    await node.writeManifest("warned", manifest("warned", [{ ...shell("app", IDLE), comand: ["x"] } as never]));
    await waitForPod(node, "warned", ({ status }) => status?.phase === "Running", "running");
    const { code, stdout } = await nodelet(node, "why", "warned");
    assert.match(
      stdout.replace(/\s+/g, " "),
      /is running and ready manifest: \S+warned\.yaml:\d+:\d+: spec\.containers\[0\]\.comand: unknown field, ignored \(did you mean "command"\?\)/,
    );
    assert.equal(code, 0);
    assert.match(
      (await nodelet(node, "status")).stdout.replace(/\s+/g, " "),
      /warning: manifest \S+warned\.yaml:\d+:\d+ is accepted with a warning/,
    );
    // Equal names in two namespaces are two pods.
    await node.writeManifest("space", manifest("warned", [shell("app", IDLE)], { metadata: { namespace: "other" } }));
    await node.waitFor(
      (pods) => pods.some(({ metadata, status }) => metadata.namespace === "other" && status?.phase === "Running"),
      { what: "the pod of the other namespace" },
    );
    await untilRows([twin]);
  });
});
