// Clients who may read manifests, and ask for them all the time: main copies all manifests for each list.

import { deepEqual, equal, ok } from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import type { ManifestCall, ManifestReply } from "../../../../src/shared/contracts/manifests.js";
import { parseTarget } from "../../../../src/shared/io/http/target.js";
import { ManifestAnswers } from "../../../../src/workers/server/pods/manifests/answer.js";
import { PodList } from "../../../../src/workers/server/pods/pod-list.js";

const READERS = 60;
const WEB = { namespace: "default", name: "web" };

test("many readers cost main one list at a time, and each gets a list that began after its request", async (t) => {
  let version = 1;
  const under = { all: 0, one: 0 };
  const most = { all: 0, one: 0 };
  let lists = 0;
  let requests = 0;
  let release = (): void => undefined;
  const allHere = new Promise<void>((resolve) => (release = resolve));
  const call = async (asked: ManifestCall): Promise<ManifestReply> => {
    ok(asked.op === "list");
    const kind = asked.of === undefined ? "all" : "one";
    most[kind] = Math.max(most[kind], ++under[kind]);
    lists++;
    const text = { metadata: `{"name":"web"}`, spec: "{}" };
    const manifest = { ...WEB, resourceVersion: String(version), createdAt: 0, ...text };
    await allHere;
    under[kind]--;
    return { ok: true, manifests: [manifest], created: false, resourceVersion: String(version), warnings: [] };
  };
  const answers = new ManifestAnswers({ pods: new PodList(() => Promise.resolve()), call, clock: systemClock });
  const server = createServer((request, response) => {
    const target = parseTarget(request.url ?? "", "http");
    ok(target !== undefined);
    if (++requests === READERS) release();
    void answers.answer(request, response, target, target.segments.length > 2 ? WEB : undefined);
  });
  server.listen(0);
  await once(server, "listening");
  t.after(() => {
    answers.close();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const get = async (path: string): Promise<string> => (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const versions = await Promise.all(
    Array.from({ length: READERS }, async (_, index) => {
      const asked = ++version;
      const shown = JSON.parse(await get(index % 2 === 0 ? "/manifests" : "/manifests/default/web")) as {
        metadata: { resourceVersion: string };
      };
      return Number(shown.metadata.resourceVersion) >= asked;
    }),
  );
  deepEqual([most.all, most.one], [1, 1]);
  ok(versions.every(Boolean));
  ok(lists <= READERS / 2 + 2, `${lists} lists`);
  equal((await get("/manifests")).includes(`"resourceVersion":"${version}"`), true);
});
