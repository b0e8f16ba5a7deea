// The HTTP source against a server on the loopback.

import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test, type TestContext } from "node:test";
import { makeSources } from "../../../../src/main/pods/sources/start-sources.js";
import { createTasksPool, type TasksPool } from "../../../../src/main/threads/tasks-pool.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { keptLog, manifest, NO_EARLIER_PODS, until } from "../../../support/sources-kit.js";

const pool = createTasksPool({ heapMiB: 128, log: keptLog().log, clock: systemClock });
after(() => pool.close());

interface Kit {
  answer: (handler: (request: IncomingMessage, response: ServerResponse) => void) => void;
  changes: string[];
  errors: () => string[];
  requests: IncomingMessage[];
  decodes: () => number;
  seen: () => boolean;
  /** What the source knows of its manifest, in one line. */
  known: () => string;
}

async function start(t: TestContext, first: string | undefined, credentials = ""): Promise<Kit> {
  const path = "/pods";
  let handler = (_: IncomingMessage, response: ServerResponse): void => void response.end(first);
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  let decodes = 0;
  const tasks: Pick<TasksPool, "run"> = {
    run: (name, job, options) => {
      decodes++;
      return pool.run(name, job, options);
    },
  };
  const { log, errors } = keptLog();
  const changes: string[] = [];
  let seen = false;
  const { port } = server.address() as AddressInfo;
  const sources = makeSources({
    earlier: NO_EARLIER_PODS,
    onManifests: () => undefined,
    shorten: () => false,
    staticPodURL: `http://${credentials}127.0.0.1:${port}${path}`,
    staticPodURLHeader: { "X-Token": ["a", "b"], ...(credentials === "" ? { Authorization: ["Bearer t"] } : {}) },
    httpCheckFrequencyMs: 20,
    nodeName: "n",
    preventAPIReferences: true,
    tasks,
    log,
    clock: systemClock,
    loop: {
      onPodChange: ({ kind, pod }) => changes.push(`${kind} ${pod.metadata.name}`),
      onSourcesSeen: () => (seen = true),
      onStaticSourcesSeen: () => undefined,
    },
  });
  sources.start();
  t.after(() => sources.stop());
  const known = (): string =>
    [...sources.manifests()]
      .map(({ origin, source, pods, refused, warnings }) => {
        assert.equal(origin, `http://${credentials.replace("secret", "xxxxx")}127.0.0.1:${port}${path}`);
        const said = refused === undefined ? warnings : [refused];
        const words = said.map(
          ({ kind = "", message, line }: { kind?: string; message: string; line: number }) =>
            `${line} ${kind}${message}`,
        );
        return [source, ...pods.map(({ metadata }) => metadata.name), ...words].join(" | ");
      })
      .join();
  return {
    known,
    answer: (next) => (handler = next),
    changes,
    errors,
    requests,
    decodes: () => decodes,
    seen: () => seen,
  };
}

const LIST = `apiVersion: v1
kind: PodList
items:
- metadata: {name: a}
  spec: {containers: [{name: c, image: i}]}
- metadata: {name: b}
  spec: {containers: [{name: c, image: i}]}
`;

test("one pod, headers sent, an unchanged body decoded once; then a list", async (t) => {
  const kit = await start(t, manifest("web"));
  await until("three requests", () => kit.requests.length >= 3 && kit.changes.length === 1);
  assert.equal(kit.decodes(), 1);
  assert.equal(kit.requests[0]?.headers["x-token"], "a, b");
  assert.ok(kit.seen());
  kit.answer((_, response) => void response.end(LIST));
  await until("the list", () => kit.changes.length === 4);
  assert.deepEqual(kit.changes, ["add web-n", "remove web-n", "add a-n", "add b-n"]);
});

test("an empty body counts as no pods, and the list that comes back as its pods", async (t) => {
  const kit = await start(t, "");
  await until("the first error", () => kit.errors().length === 1 && kit.requests.length > 3);
  assert.match(kit.errors()[0]!, /the server sent nothing/);
  assert.deepEqual([kit.seen(), kit.changes], [true, []]);
  kit.answer((_, response) => void response.end(manifest("web")));
  await until("the pod", () => kit.changes.length === 1);
  kit.answer((_, response) => void response.end());
  await until("the second error", () => kit.errors().length === 2);
  await until("no pods", () => kit.changes.length === 2);
  assert.match(kit.errors()[1]!, /the server sent nothing.*; it counts as no pods$/);
  kit.answer((_, response) => void response.end(manifest("web")));
  await until("the pod again", () => kit.changes.length === 3);
  kit.answer((_, response) => void response.end("apiVersion: v1\nkind: PodList\nitems: []\n"));
  await until("an empty list", () => kit.changes.length === 4);
  assert.deepEqual(kit.changes, ["add web-n", "remove web-n", "add web-n", "remove web-n"]);
  assert.equal(kit.errors().length, 2);
});

test("errors are logged once per change, the last set stays, nothing is seen before the first success", async (t) => {
  const kit = await start(t, "kind: ReplicaSet\napiVersion: v1\n");
  await until("the first error", () => kit.errors().length === 1 && kit.requests.length > 3);
  assert.match(kit.errors()[0]!, /kind: unsupported value "ReplicaSet"/);
  assert.equal(kit.seen(), false);
  kit.answer((_, response) => void response.end(manifest("web")));
  await until("the pod", () => kit.changes.length === 1 && kit.seen());
  kit.answer((_, response) => void response.writeHead(503).end());
  await until("the 503", () => kit.errors().length === 2);
  kit.answer((_, response) => void response.end("kind: Nope\napiVersion: v1\n"));
  await until("the broken body", () => kit.errors().length === 3);
  const before = kit.requests.length;
  await until("more requests", () => kit.requests.length > before + 3);
  assert.match(kit.errors()[1]!, /responded with 503/);
  assert.match(kit.errors()[2]!, /:1:7: kind: unsupported value "Nope"/);
  assert.equal(kit.errors().length, 3);
  assert.deepEqual(kit.changes, ["add web-n"]);
});

test("what is wrong with the URL or its body is known until it is mended", async (t) => {
  const kit = await start(t, manifest("web", "comand: [x]"), "user:secret@");
  const stated = (expected: string): Promise<void> =>
    until(`${expected}; it is ${kit.known()}`, () => kit.known() === expected);
  await stated('url | web-n | 9 warningspec.containers[0].comand: unknown field, ignored (did you mean "command"?)');
  const broken = "kind: Nope\napiVersion: v1\n";
  kit.answer((_, response) => void response.end(broken));
  await stated('url | web-n | 1 kind: unsupported value "Nope"; allowed: Pod, List, PodList');
  kit.answer((_, response) => void response.writeHead(503).end());
  await stated("url | web-n | 0 the server responded with 503 Service Unavailable");
  kit.answer((_, response) => void response.end(broken));
  await stated('url | web-n | 1 kind: unsupported value "Nope"; allowed: Pod, List, PodList');
  kit.answer((_, response) => void response.end(manifest("web")));
  await stated("url | web-n");
});

test("redirects are followed, ten requests at most", async (t) => {
  const kit = await start(t, undefined);
  kit.answer((request, response) => {
    const step = Number(/^\/step\/(\d+)$/.exec(request.url ?? "")?.[1] ?? 0);
    if (step === 9) response.end(manifest("far"));
    else response.writeHead(302, { location: `/step/${step + 1}` }).end();
  });
  await until("the pod", () => kit.changes.length === 1);
  assert.equal(kit.requests.find((one) => one.url === "/step/9")?.headers.authorization, "Bearer t");
  kit.answer((_, response) => void response.writeHead(302, { location: "/again" }).end());
  await until("the error", () => kit.errors().some((one) => one.includes("stopped after 10 redirects")));
});

test("a body over 10 MiB is refused without keeping it", async (t) => {
  const kit = await start(t, undefined);
  kit.answer((_, response) => {
    response.on("error", () => undefined);
    response.end(Buffer.alloc(11 * 1024 * 1024, 0x20));
  });
  await until("the error", () => kit.errors().some((one) => one.includes("larger than 10 MiB")));
  assert.equal(kit.decodes(), 0);
});

test("a user and password in the URL are sent as basic authorization and never logged", async (t) => {
  const kit = await start(t, "kind: Nope\napiVersion: v1\n", "user:secret@");
  await until("the error", () => kit.errors().length === 1);
  assert.equal(kit.requests[0]?.headers.authorization, `Basic ${Buffer.from("user:secret").toString("base64")}`);
  assert.match(kit.errors()[0]!, /user:xxxxx@/);
  assert.doesNotMatch(kit.errors()[0]!, /secret/);
});
