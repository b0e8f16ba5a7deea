// The manifest API on a whole node with real containerd: the calls of docs/manifest-api.md, restarts, crashes, hostile
// clients.
// @promise Configuration and manifests: Manifest API: a POST keeps all of its manifests or none, also with kill -9 in
//   the middle; pods come back without network; of two writers with one ETag the second is refused.
// @with test/main/pods/sources/submitted
// @promise Configuration and manifests: Manifest API: anonymous clients are refused; bodies beyond 10 MiB, slow ones,
//   YAML bombs and garbage cost only their own request.
// @with test/workers/tasks/decode-submitted.test.ts

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { request, type IncomingMessage } from "node:http";
import { createConnection, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { exactInteger } from "../../src/shared/kubernetes/api/wide-integers.js";
import { startNode, testImage, waitFor, type TestNode } from "../harness/node.js";
import { secureAsk, waitSecure } from "../support/secure-ask.js";
import { IDLE, manifest, shell, waitForPod, waitGone } from "../support/static-pods.js";

interface Reply {
  status: number;
  headers: IncomingMessage["headers"];
  body: string;
}

function socketOf(node: TestNode): string {
  return join(node.kubelet.rootDir, "nodelet/kubelet.sock");
}

async function open(
  node: TestNode,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<IncomingMessage> {
  const sent = request({ socketPath: socketOf(node), path, method, headers: { host: "kubelet", ...headers } });
  sent.on("error", () => undefined);
  sent.end(body === undefined || Buffer.isBuffer(body) || typeof body === "string" ? body : JSON.stringify(body));
  return ((await once(sent, "response")) as [IncomingMessage])[0];
}

async function ask(...args: Parameters<typeof open>): Promise<Reply> {
  const response = await open(...args);
  let body = "";
  for await (const part of response.setEncoding("utf8")) body += part as string;
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** The response to a POST that announces a body and waits before it sends any. */
async function statusOfHead(node: TestNode, length: number): Promise<number> {
  const headers = { host: "kubelet", expect: "100-continue", "content-length": String(length) };
  const sent = request({ socketPath: socketOf(node), path: "/manifests/", method: "POST", headers });
  sent.on("error", () => undefined);
  sent.flushHeaders();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  sent.destroy();
  return response.statusCode ?? 0;
}

const pod = (name: string, script = IDLE): object => manifest(name, [shell("app", script)]);
const running = ({ status }: { status?: { phase?: string } }): boolean => status?.phase === "Running";

async function waitAdmin(node: TestNode): Promise<void> {
  await waitFor(async () => (await ask(node, "GET", "/manifests/")).status === 200, {
    what: "the admin socket to respond",
  });
}

describe("the manifest API", () => {
  let node: TestNode;

  before(async () => {
    node = await startNode({ secure: true, flags: ["--manifest-api"] });
    await waitAdmin(node);
  });
  after(() => node.stop());

  test("the calls of docs/manifest-api.md run a node", async () => {
    const page = await readFile("docs/manifest-api.md", "utf8");
    const blocks = [...page.matchAll(/^```sh\n([^]*?)^```$/gm)].map((match) => match[1] ?? "");
    assert.equal(blocks.length, 2);
    const script = blocks
      .join("\n")
      .replaceAll("/run/nodelet/kubelet.sock", socketOf(node))
      .replaceAll("docker.io/library/busybox:1.36", testImage())
      .replace("alias k='", "k() { ")
      .replace(/(kubelet\.sock)'$/m, '$1 "$@"; }');
    const file = join(node.kubelet.dir, "calls.sh");
    await writeFile(file, `set -euo pipefail; cd ${node.kubelet.dir}\n${script}`);
    const { stdout } = await promisify(execFile)("bash", [file]);
    assert.match(stdout, /NAMESPACE +NAME +READY +STATUS/);
    assert.match(stdout, /^{"type":"ADDED","object":{.*"1000000"/m);
    await waitForPod(node, "web", running, "running");
    await waitGone(node, "db");
    assert.equal((await ask(node, "DELETE", "/manifests/default/web")).status, 200);
    await waitGone(node, "web");
  });

  test("pods come back after a restart, under the same UID", async () => {
    assert.equal((await ask(node, "POST", "/manifests/", pod("kept"))).status, 201);
    const before = await waitForPod(node, "kept", running, "running");
    await node.kill9();
    await node.restart();
    await waitAdmin(node);
    const after = await waitForPod(node, "kept", running, "running");
    assert.equal(after.metadata.uid, before.metadata.uid);
    assert.deepEqual(
      after.status?.containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]),
      before.status?.containerStatuses?.map(({ containerID, restartCount }) => [containerID, restartCount]),
    );
    assert.equal(after.metadata.annotations?.["kubernetes.io/config.source"], "http");
  });

  test("a kubelet killed in the middle of a POST keeps all of its manifests or none", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `many-${index}`);
    // No node can run these pods: this test covers only the kept manifests.
    const items = names.map((name) => ({
      ...pod(name),
      spec: { ...(pod(name) as { spec: object }).spec, os: { name: "windows" } },
    }));
    for (let round = 0; round < 3; round++) {
      const posted = ask(node, "POST", "/manifests/", { kind: "List", apiVersion: "v1", items }).catch(() => undefined);
      await waitFor(
        async () => (await readdir(join(node.kubelet.rootDir, "nodelet/manifests"))).length > 3 + round * 13,
        { what: "the first files of the request", intervalMs: 1 },
      );
      await node.kill9();
      await posted;
      await node.restart();
      await waitAdmin(node);
      const { body } = await ask(node, "GET", "/manifests/");
      const kept = (JSON.parse(body) as { items: { metadata: { name: string } }[] }).items.map(
        (one) => one.metadata.name,
      );
      const many = kept.filter((name) => name.startsWith("many-"));
      assert.ok(many.length === 0 || many.length === names.length, `${many.length} of ${names.length}`);
      assert.ok(kept.includes("kept"));
      for (const name of many) await ask(node, "DELETE", `/manifests/default/${name}`);
    }
  });

  test("two writers with If-Match do not undo each other", async () => {
    const etag = (await ask(node, "GET", "/manifests/default/kept")).headers.etag ?? "";
    const put = (script: string) =>
      ask(node, "PUT", "/manifests/default/kept", pod("kept", script), { "if-match": etag });
    const replies = await Promise.all([put(`: one; ${IDLE}`), put(`: two; ${IDLE}`)]);
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 412]);
    const refused = replies.find(({ status }) => status === 412);
    assert.equal((JSON.parse(refused?.body ?? "") as { kind: string }).kind, "Status");
    assert.equal((await ask(node, "PUT", "/manifests/default/kept", pod("kept"))).status, 428);
  });

  test("integers of 64 bits have all their digits, in the manifest and in /pods", async () => {
    const tolerations = [{ operator: "Exists", effect: "NoExecute", tolerationSeconds: exactInteger(2n ** 63n - 1n) }];
    const { spec, ...wide } = manifest("wide", [shell("app", IDLE)]);
    assert.equal((await ask(node, "POST", "/manifests/", { ...wide, spec: { ...spec, tolerations } })).status, 201);
    await waitForPod(node, "wide", running, "it runs");
    for (const path of ["/manifests/default/wide", "/pods"]) {
      assert.match((await ask(node, "GET", path)).body, /"tolerationSeconds":9223372036854775807[,}]/, path);
    }
    assert.equal((await ask(node, "DELETE", "/manifests/default/wide")).status, 200);
    await waitGone(node, "wide");
  });

  test("a watch shows each state of a pod, to its removal", async () => {
    const stream = await open(node, "GET", "/manifests/default/seen?watch=1");
    const events: string[] = [];
    createInterface({ input: stream }).on("line", (line) => {
      const { type, object } = JSON.parse(line) as { type: string; object: { status: { phase: string } } };
      events.push(`${type} ${object.status.phase}`);
    });
    assert.equal((await ask(node, "POST", "/manifests/", pod("seen"))).status, 201);
    await waitFor(async () => Promise.resolve(events.includes("MODIFIED Running")), { what: "MODIFIED Running" });
    assert.match(events[0] ?? "", /^ADDED/);
    assert.equal((await ask(node, "DELETE", "/manifests/default/seen")).status, 200);
    await waitFor(async () => Promise.resolve(events.at(-1)?.startsWith("DELETED")), { what: "DELETED" });
    await waitGone(node, "seen");
    stream.destroy();
  });

  test("a bad manifest is refused with line, column and nearest field, and dryRun keeps nothing", async () => {
    const bad = `apiVersion: v1\nkind: Pod\nmetadata:\n  name: bad\nspec:\n  containers:\n  - name: app\n    imag: x\n`;
    const { status, body, headers } = await ask(node, "POST", "/manifests/?dryRun=All", bad);
    assert.equal(status, 422);
    assert.equal(headers["content-type"], "application/json");
    const { kind, message, details } = JSON.parse(body) as {
      kind: string;
      message: string;
      details: { causes: unknown[] };
    };
    assert.equal(kind, "Status");
    assert.match(message, /body:7:5: spec\.containers\[0\]\.image: required value/);
    assert.ok(details.causes.length > 0);
    assert.match(String(headers["warning"]), /299 nodelet ".*body:8:5: .*imag: unknown field.*image/);
    const warned = await ask(node, "POST", "/manifests/?dryRun=All", { ...pod("fine"), speck: {} });
    assert.equal(warned.status, 201);
    assert.match(String(warned.headers["warning"]), /299 nodelet ".*speck.*spec/);
    assert.equal((await ask(node, "GET", "/manifests/default/fine")).status, 404);
    assert.equal((await ask(node, "POST", "/manifests/?dryRun=Some", pod("fine"))).status, 400);
  });

  test("Accept selects the Table of API servers", async () => {
    const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    const { body } = await ask(node, "GET", "/manifests/", undefined, { accept });
    const { kind, rows } = JSON.parse(body) as { kind: string; rows: { cells: unknown[] }[] };
    assert.equal(kind, "Table");
    assert.deepEqual(rows[0]?.cells.slice(0, 2), ["default", "kept"]);
    assert.equal((await ask(node, "GET", "/manifests/", undefined, { accept: "image/png" })).status, 406);
  });

  test("slow bodies take few places, and leave them with their clients", async () => {
    const slow: Socket[] = [];
    const openSlow = (): void => {
      const socket = createConnection(socketOf(node));
      socket.on("error", () => undefined);
      socket.write("POST /manifests/ HTTP/1.1\r\nHost: kubelet\r\nContent-Length: 100\r\n\r\nx");
      slow.push(socket);
    };
    let last: Reply | undefined;
    await waitFor(
      async () => {
        // One more each time: one that comes while this request has a place is refused, and holds none.
        openSlow();
        last = await ask(node, "POST", "/manifests/?dryRun=All", pod("x"));
        return last.status === 429;
      },
      { what: "the places for bodies to be taken", lastSeen: () => `${last?.status ?? 0} ${last?.body ?? ""}` },
    );
    assert.equal((await ask(node, "GET", "/manifests/")).status, 200);
    for (const socket of slow) socket.destroy();
    await waitFor(async () => (await ask(node, "POST", "/manifests/?dryRun=All", pod("x"))).status === 201, {
      what: "the places of clients that left",
    });
  });

  test("hostile bodies are refused, and the node serves on", async () => {
    const large = Buffer.alloc(10 * 1024 * 1024 + 1, "#");
    assert.equal(await statusOfHead(node, large.length), 413);
    const chunked = { "transfer-encoding": "chunked" };
    const endless = await ask(node, "POST", "/manifests/", large, chunked).catch(() => undefined);
    assert.ok(endless === undefined || endless.status === 413);
    const bomb = `a: &a [${"x,".repeat(50)}x]\nb: &b [${"*a,".repeat(50)}*a]\nc: [${"*b,".repeat(50)}*b]\n`;
    for (const text of [bomb, "[".repeat(1_000_000), "\u0000\u0007", "", "- \n".repeat(500_000), "{".repeat(100)]) {
      const { status } = await ask(node, "POST", "/manifests/", text);
      assert.ok(status === 400 || status === 422, `${status}`);
    }
    await waitForPod(node, "kept", running, "running");
  });

  test("an anonymous client of the port is refused, though it may read the rest", async () => {
    await waitSecure(node);
    assert.equal((await secureAsk(node, "/pods")).status, 200);
    assert.equal((await secureAsk(node, "/manifests/")).status, 401);
    assert.equal((await secureAsk(node, "/%6danifests/", "POST")).status, 401);
  });
});
