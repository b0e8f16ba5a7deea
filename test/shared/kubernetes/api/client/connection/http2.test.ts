import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ApiConnectionError } from "../../../../../../src/shared/kubernetes/api/client/errors.js";
import { NODES } from "../../../../../../src/shared/kubernetes/api/client/kinds.js";
import { sendJson, type Answer, type Response } from "../../../../../support/api-server.js";
import { until } from "../../../../../support/sources-kit.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";
import { certFolder, type CertFolder, type TestCa, type TestPair } from "../../../../../support/test-certs.js";
import { startRig, type RigOptions } from "../client-kit.js";

let certs: CertFolder;
let ca: TestCa;
let pair: TestPair;
before(async () => {
  certs = await certFolder();
  ca = await certs.ca("cluster");
  pair = await ca.issue("/CN=kube");
});
after(() => certs.remove());

const rigWith = (options: RigOptions) =>
  startRig({ protocol: "h2", pair, config: { certificateAuthority: { data: ca.cert } }, ...options });

/** Responds at once, but to paths named "late…" only when the test calls for it. */
function holding(): { answer: Answer; held: Response[] } {
  const held: Response[] = [];
  const answer: Answer = ({ url }, response) => {
    if (url.includes("late")) held.push(response);
    else sendJson(response, {});
  };
  return { answer, held };
}

describe("an HTTP/2 connection", () => {
  it("after GOAWAY ends with its pending calls, and the next call has a new one", async () => {
    const { answer, held } = holding();
    await using rig = await rigWith({ answer });
    const late = rig.client.get(NODES, { name: "late" });
    await until(() => held.length === 1);
    for (const session of rig.server.sessions) session.goaway(0);
    await until(() => rig.server.sessions.size === 1);
    // The GOAWAY is on its way: a call may still go over the old connection until it is there.
    for (let i = 0; rig.server.connections < 2 && i < 100; i++) await rig.client.get(NODES, { name: "a" });
    equal(rig.server.connections, 2);
    for (const response of held) sendJson(response, { metadata: { name: "late" } });
    deepEqual(await late, { metadata: { name: "late" } });
  });

  it("takes no more streams than the server allows: others get a connection more", async () => {
    const { answer, held } = holding();
    await using rig = await rigWith({ answer, maxConcurrentStreams: 2 });
    const calls: Promise<unknown>[] = [];
    for (const [count, connections] of [
      [2, 1],
      [4, 2],
      [6, 3],
    ] as const) {
      calls.push(rig.client.get(NODES, { name: "late" }), rig.client.get(NODES, { name: "late" }));
      await until(() => held.length === count);
      equal(rig.server.connections, connections);
    }
    for (const response of held) sendJson(response, {});
    await Promise.all(calls);
  });

  it("accepts no more streams from concurrent callers, either", async () => {
    const { answer, held } = holding();
    await using rig = await rigWith({ answer, maxConcurrentStreams: 2 });
    await rig.client.get(NODES, { name: "a" });
    const calls = Array.from({ length: 3 }, () => rig.client.get(NODES, { name: "late" }));
    await until(() => held.length === 3);
    equal(rig.server.connections, 2);
    for (const response of held) sendJson(response, {});
    await Promise.all(calls);
  });

  it("whose server responds to no PING is closed", async () => {
    const clock = new SteppedClock();
    const { answer, held } = holding();
    await using rig = await rigWith({ answer, clock, limits: { timeoutMs: 3_600_000 } });
    const late = rig.client.get(NODES, { name: "late" });
    await until(() => held.length === 1);
    // The answer to this one comes, and is seen before time goes on.
    clock.step(30_000);
    await rig.client.get(NODES, { name: "a" });
    clock.step(15_000);
    await rig.client.get(NODES, { name: "a" });
    equal(rig.server.connections, 1);
    const failed = rejects(late, (error: Error) => {
      ok(error instanceof ApiConnectionError);
      match(error.message, /no response to a PING within 15 s/);
      return true;
    });
    clock.step(30_000);
    await failed;
    await rig.client.get(NODES, { name: "a" });
    equal(rig.server.connections, 2);
  });
});
