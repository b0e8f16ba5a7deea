// Ids of pods with their own users: handed out once, kept on disk as upstream does, known to the next kubelet.
// @promise Resources of the node: A damaged user-namespace file blocks only its own pod; no other pod gets ids that
//   the runtime reports for it.

import assert from "node:assert/strict";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ObservedIds } from "../../../../src/main/containers/user-namespaces/observed-ids.js";
import { UserNamespaceError } from "../../../../src/main/containers/user-namespaces/user-namespace-error.js";
import { UserNamespaces } from "../../../../src/main/containers/user-namespaces/user-namespaces.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { NamespaceMode } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod } from "../../../support/pods.js";
import { keptLog, temporaryFolder } from "../../../support/sources-kit.js";

const UNIT = 65_536;

async function build(t: TestContext) {
  const rootDir = await temporaryFolder(t);
  const commands: string[] = [];
  const world: { observed: ObservedIds } = { observed: () => Promise.resolve([]) };
  const agent = (idsPerPod = UNIT): UserNamespaces =>
    new UserNamespaces(
      {
        rootDir,
        idsPerPod,
        maxPods: 110,
        run: (program) => {
          commands.push(program);
          return Promise.resolve(undefined);
        },
      },
      { observed: (uid) => world.observed(uid), log: keptLog().log },
    );
  const file = (uid: string): string => join(rootDir, "pods", uid, "userns");
  const put = async (uid: string, text: string): Promise<void> => {
    await mkdir(dirname(file(uid)), { recursive: true });
    await writeFile(file(uid), text);
  };
  return { rootDir, commands, agent, file, put, world };
}

const podOf = (uid: string, spec: Pick<Pod["spec"], "hostUsers"> = { hostUsers: false }): Pod =>
  pod({ containers: [], ...spec }, uid, uid);

const firstOf = async (agent: UserNamespaces, uid: string): Promise<number | undefined> =>
  (await agent.forPod(podOf(uid)))?.uids[0]?.hostId;

const mappings = (hostId: number, length = UNIT): string => {
  const list = [{ hostId, containerId: 0, length }];
  return JSON.stringify({ uidMappings: list, gidMappings: list });
};

test("only a pod with hostUsers: false has ids of its own, and nothing is looked up for the others", async (t) => {
  const { agent, commands } = await build(t);
  const namespaces = agent();
  assert.equal(await namespaces.forPod(podOf("a", {})), undefined);
  assert.equal(await namespaces.forPod(podOf("a", { hostUsers: true })), undefined);
  assert.deepEqual(commands, []);
});

test("ids are the same for users and groups, kept in upstream's layout, and the same for every request", async (t) => {
  const { agent, file } = await build(t);
  const namespaces = agent();
  const ids = [{ hostId: UNIT, containerId: 0, length: UNIT }];
  const expected = { mode: NamespaceMode.POD, uids: ids, gids: ids };
  const [one, same] = await Promise.all([namespaces.forPod(podOf("a")), namespaces.forPod(podOf("a"))]);
  assert.deepEqual([one, same], [expected, expected]);
  assert.equal(await readFile(file("a"), "utf8"), mappings(UNIT));
  assert.deepEqual(await namespaces.forPod(podOf("a")), expected);
});

test("pods with simultaneous requests get different ids", async (t) => {
  const { agent } = await build(t);
  const namespaces = agent();
  const uids = Array.from({ length: 20 }, (_, index) => `pod-${index}`);
  const firsts = await Promise.all(uids.map((uid) => firstOf(namespaces, uid)));
  assert.equal(new Set(firsts).size, 20);
});

test("the next kubelet knows them, also after the ids per pod were changed", async (t) => {
  const { agent } = await build(t);
  const before = agent();
  const [a, b] = [await firstOf(before, "a"), await firstOf(before, "b")];
  const after = agent(2 * UNIT);
  assert.equal(await firstOf(after, "new"), 4 * UNIT, "behind the others, at a multiple of its size");
  assert.deepEqual([await firstOf(after, "a"), await firstOf(after, "b")], [a, b]);
});

test("ids are free again when the pod was released", async (t) => {
  const { agent, rootDir } = await build(t);
  const namespaces = agent();
  const first = await firstOf(namespaces, "a");
  await rm(join(rootDir, "pods", "a"), { recursive: true });
  namespaces.release(podUid("a"));
  assert.equal(await firstOf(namespaces, "b"), first);
});

const BROKEN = [
  "",
  "nonsense",
  "null",
  "{}",
  mappings(0),
  mappings(UNIT, 0),
  mappings(2 ** 32),
  `{"uidMappings":[{"hostId":65536,"containerId":1,"length":65536}],"gidMappings":[]}`,
  mappings(UNIT).replace('"hostId":65536', '"hostId":131072'),
  mappings(UNIT).replace("[{", '[{"hostId":1,"containerId":0,"length":1},{'),
];

for (const text of BROKEN) {
  test(`a damaged file holds up its own pod only, and the ids its pod runs with are handed out to none: ${text}`, async (t) => {
    const { agent, put, file, world } = await build(t);
    await put("old", text);
    world.observed = (uid) => Promise.resolve(uid === "old" ? [{ first: UNIT, length: UNIT }] : []);
    const namespaces = agent();
    assert.equal(await firstOf(namespaces, "a"), 2 * UNIT);
    await assert.rejects(firstOf(namespaces, "old"), (error) => {
      assert.ok(error instanceof UserNamespaceError, text);
      assert.ok(error.message.startsWith(`${file("old")} does not name the ids of its pod`));
      return true;
    });
    namespaces.release(podUid("old"));
    assert.equal(await firstOf(namespaces, "b"), UNIT, "the pod was removed");
  });
}

test("a pod with a damaged file and nothing in the runtime gets new ids and a new file", async (t) => {
  const { agent, put, file } = await build(t);
  await put("old", "nonsense");
  assert.equal(await firstOf(agent(), "old"), UNIT);
  assert.equal(await readFile(file("old"), "utf8"), mappings(UNIT));
});

test("with a damaged file and a runtime that does not respond no ids are handed out", async (t) => {
  const { agent, put, world } = await build(t);
  await put("old", "nonsense");
  world.observed = () => Promise.reject(new Error("the runtime is down"));
  const namespaces = agent();
  await assert.rejects(firstOf(namespaces, "a"), /the runtime is down/);
  world.observed = () => Promise.resolve([{ first: UNIT, length: UNIT }]);
  assert.equal(await firstOf(namespaces, "a"), 2 * UNIT);
});

test("of two files with ids in common the later one's pod is refused by name; the ids of both stay reserved", async (t) => {
  const { agent, put } = await build(t);
  await put("a", mappings(UNIT, 2 * UNIT));
  await put("b", mappings(2 * UNIT, 2 * UNIT));
  const namespaces = agent();
  assert.equal(await firstOf(namespaces, "c"), 4 * UNIT);
  const outcomes = await Promise.allSettled([firstOf(namespaces, "a"), firstOf(namespaces, "b")]);
  const refusals = outcomes.flatMap((one) => (one.status === "rejected" ? [String(one.reason)] : []));
  assert.equal(refusals.length, 1);
  assert.match(refusals[0] ?? "", /those of pod [ab] too/);
});

test("ids that could not be kept are not handed out", async (t) => {
  const { agent, rootDir } = await build(t);
  await mkdir(join(rootDir, "pods"));
  await writeFile(join(rootDir, "pods", "a"), "in the way");
  const namespaces = agent();
  await assert.rejects(firstOf(namespaces, "a"));
  assert.equal(await firstOf(namespaces, "b"), UNIT, "what could not be kept is free");
});
