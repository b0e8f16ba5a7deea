// The upgrade from release 0.1.0 with static pods whose definition is not in canonical form. That release computed
// their UIDs from the text (test/workers/tasks/former-uids.test.ts has them); this one would compute others. Its state
// on the node is made by this kubelet, with that UID in the manifest, and records are put into the form of that
// release. No container starts anew, from a file, a URL or the manifest API.

import assert from "node:assert/strict";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { podUid } from "../../src/shared/kubernetes/identifiers.js";
import { decodeSubmitted } from "../../src/workers/tasks/manifest/decode-submitted.js";
import { decodeManifest } from "../../src/workers/tasks/manifest/decode.js";
import { startNode, testImage, waitFor, type PodView, type TestNode } from "../harness/node.js";
import { runNodelet } from "../support/nodelet-command.js";
import { conditionsOf, IDLE, podOf, waitForPod } from "../support/static-pods.js";

const NAMES = ["of-file", "of-url", "of-api"] as const;
type Name = (typeof NAMES)[number];

/** As users write them: a fraction, a switch that is off, an empty list. */
function text(name: Name, uid = ""): string {
  return [
    ...["apiVersion: v1", "kind: Pod", "metadata:", `  name: ${name}`, ...(uid === "" ? [] : [`  uid: ${uid}`])],
    ...["spec:", "  hostPID: false", "  containers:", "  - name: app", `    image: ${testImage()}`],
    ...["    imagePullPolicy: IfNotPresent", `    command: ["/bin/sh", "-c", ${JSON.stringify(IDLE)}]`],
    ...["    env: []", "    resources: {requests: {cpu: 0.05, memory: 16384Ki}}", ""],
  ].join("\n");
}

let node: TestNode;
let server: Server;
let served = "";
let url = "";

before(async () => {
  server = createServer((_request, response) => response.end(served)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pods`;
  const config = { staticPodURL: url, httpCheckFrequency: "1s" };
  node = await startNode({ start: false, flags: ["--manifest-api=socket"], config });
});
after(async () => {
  await node.stop();
  server.close();
});

/** The UID of release 0.1.0. */
function formerUid(name: Name): string {
  const nodeName = "testnode";
  if (name === "of-api") {
    const job = { text: Buffer.from(text(name)), nodeName, preventAPIReferences: true, namespace: "default" };
    return decodeSubmitted(job).pods[0]?.formerUid ?? "";
  }
  const path = join(node.kubelet.manifests, `${name}.yaml`);
  const origin = name === "of-file" ? ({ kind: "file", path } as const) : ({ kind: "http", url } as const);
  const { pods, formerUids = {} } = decodeManifest({ origin, text: text(name), nodeName });
  return formerUids[podUid(pods[0]?.metadata.uid ?? "")] ?? "";
}

const isReady = (pod: PodView): boolean => conditionsOf(pod)["Ready"] === "True";
const args = (): string[] => ["--root-dir", node.kubelet.rootDir];

/** UID and container of each pod. */
async function lives(): Promise<Record<string, unknown>> {
  const pods = await node.pods();
  const shown = NAMES.map((name) => {
    const { metadata, status } = podOf(pods, name) ?? {};
    const [app] = status?.containerStatuses ?? [];
    return [name, [metadata?.uid, app?.containerID, app?.restartCount]] as const;
  });
  return Object.fromEntries(shown);
}

/** Files below the state of the kubelet, as release 0.1.0 wrote them: with the values of the text. */
async function asFormerRelease(): Promise<number> {
  let changed = 0;
  for (const folder of ["pods", "manifests"]) {
    const path = join(node.kubelet.rootDir, "nodelet", folder);
    for (const name of (await readdir(path)).filter((one) => one.endsWith(".json") && one !== "index.json")) {
      const file = join(path, name);
      const before = await readFile(file, "utf8");
      const former = before
        .replaceAll('"cpu":"50m"', '"cpu":0.05')
        .replaceAll('"memory":"16Mi"', '"memory":"16384Ki"')
        .replaceAll(/"spec":\{(?!"hostPID")/g, '"spec":{"hostPID":false,')
        .replaceAll(/("name":"app",)/g, '$1"env":[],')
        .replace(folder === "manifests" ? /"uid":"[0-9a-f]{32}",?/ : /$^/, "")
        .replace(",}", "}");
      if (former !== before) changed++;
      await writeFile(file, former);
    }
  }
  return changed;
}

test("static pods of release 0.1.0 run on over the upgrade, and over later restarts", async () => {
  const uids = Object.fromEntries(NAMES.map((name) => [name, formerUid(name)]));
  for (const uid of Object.values(uids)) assert.match(uid, /^[0-9a-f]{32}$/);
  await node.writeManifest("of-file", text("of-file", uids["of-file"]));
  served = text("of-url", uids["of-url"]);
  await node.restart();
  const apply = (uid?: string) => runNodelet([...args(), "apply", "-f", "-"], { input: text("of-api", uid) });
  await waitFor(async () => (await apply(uids["of-api"])).code === 0, { what: "the manifest to be applied" });
  for (const name of NAMES) await waitForPod(node, name, isReady, "Ready");
  const before = await lives();
  for (const name of NAMES) assert.equal((before[name] as unknown[])[0], uids[name]);

  await node.kill9();
  // Newer than the pod: by the times alone it could be another definition.
  await node.writeManifest("of-file", text("of-file"));
  served = text("of-url");
  assert.equal(await asFormerRelease(), 4);
  for (const round of ["first", "second"]) {
    await node.restart();
    for (const name of NAMES) await waitForPod(node, name, isReady, `Ready after the ${round} start`);
    assert.deepEqual(await lives(), before);
  }
  assert.deepEqual(await apply(), { code: 0, stdout: "pod/of-api unchanged\n", stderr: "" });

  await node.writeManifest("of-file", text("of-file").replace("0.05", "0.06"));
  await waitForPod(node, "of-file", (pod) => pod.metadata.uid !== uids["of-file"] && isReady(pod), "another pod");
});
