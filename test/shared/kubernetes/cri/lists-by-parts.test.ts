// Lists that do not fit into one message of 16 MiB, against the fake runtime.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CriClient } from "../../../../src/shared/kubernetes/cri/client.js";
import type { ListsByPartsOptions } from "../../../../src/shared/kubernetes/cri/lists-by-parts.js";
import { podUid, type PodUid } from "../../../../src/shared/kubernetes/identifiers.js";
import type { FakeCri } from "../../../fake-cri/fake-cri.js";
import { IMAGE, pair, podConfig } from "./support.js";

const MIB = 1024 * 1024;
const note = (bytes: number) => ({ note: "x".repeat(bytes) });

/** No pod has a directory: all sandboxes are known by their containers. */
const noUids = (): Promise<readonly PodUid[]> => Promise.resolve([]);

type Report = Parameters<NonNullable<ListsByPartsOptions["onParts"]>>;

async function makePod(client: CriClient, name: string, { sandbox = 0, container = 0 } = {}): Promise<void> {
  const config = { ...podConfig(name), annotations: note(sandbox) };
  const { podSandboxId } = await client.runPodSandbox({ config });
  await client.createContainer({
    podSandboxId,
    config: { metadata: { name: "a" }, image: { image: IMAGE }, labels: config.labels, annotations: note(container) },
    sandboxConfig: podConfig(name),
  });
}

const names = (items: readonly { labels: Record<string, string> }[]): string[] =>
  items.map(({ labels }) => labels["io.kubernetes.pod.name"] ?? "").sort();
const wanted = (count: number): string[] => Array.from({ length: count }, (_, index) => `p${index}`).sort();
const callsOf = (fake: FakeCri, verb: string): number => fake.calls.filter((call) => call.verb === verb).length;

test("a list of containers that is too large comes sandbox by sandbox", async (t) => {
  const reports: Report[] = [];
  const { fake, client } = await pair(
    t,
    { images: [IMAGE] },
    { podUids: noUids, onParts: (...report) => reports.push(report) },
  );
  for (const name of wanted(20)) await makePod(client, name, { container: MIB });
  const { containers } = await client.listContainers({});
  assert.deepEqual(names(containers), wanted(20));
  assert.deepEqual(reports, [["containers", { parts: true, leftOut: { pods: [], sandboxes: [] } }]]);
  const before = callsOf(fake, "ListContainers");
  await client.listContainers({ filter: { labelSelector: { "io.kubernetes.pod.uid": "uid-p1" } } });
  assert.equal(callsOf(fake, "ListContainers"), before + 1, "a list of one pod is one call");
  assert.equal(reports.length, 1);
});

test("a list of sandboxes that is too large comes by the UIDs on disk and by the sandboxes of containers", async (t) => {
  const podUids = () => Promise.resolve(wanted(10).map((name) => podUid(`uid-${name}`)));
  const { client } = await pair(t, { images: [IMAGE] }, { podUids });
  for (const name of wanted(20)) await makePod(client, name, { sandbox: MIB });
  const { items } = await client.listPodSandbox({});
  assert.deepEqual(names(items), wanted(20));
});

test("both lists are too large: the pods with a directory are listed", async (t) => {
  const podUids = () => Promise.resolve([...wanted(20).map((name) => podUid(`uid-${name}`)), podUid("uid-gone")]);
  const { client } = await pair(t, { images: [IMAGE] }, { podUids });
  for (const name of wanted(20)) await makePod(client, name, { sandbox: MIB, container: MIB });
  assert.deepEqual(names((await client.listContainers({})).containers), wanted(20));
  assert.deepEqual(names((await client.listPodSandbox({})).items), wanted(20));
});

test("a pod whose own part is too large is left out and reported, and hides no other pod", async (t) => {
  const reports: Report[] = [];
  const { fake, client } = await pair(
    t,
    { images: [IMAGE] },
    { podUids: noUids, onParts: (...report) => reports.push(report) },
  );
  for (const name of wanted(3)) await makePod(client, name);
  const [large] = [...fake.state.containers.values()].filter(
    ({ status }) => status.labels["io.kubernetes.pod.name"] === "p1",
  );
  assert.ok(large);
  large.status.annotations = note(17 * MIB);
  assert.deepEqual(names((await client.listContainers({})).containers), ["p0", "p2"]);
  assert.deepEqual(reports, [["containers", { parts: true, leftOut: { pods: ["uid-p1"], sandboxes: [] } }]]);
});

test("the whole list is tried again after a while, and its success is reported", async (t) => {
  const reports: Report[] = [];
  const { fake, client } = await pair(
    t,
    { images: [IMAGE] },
    { podUids: noUids, onParts: (...report) => reports.push(report) },
  );
  await makePod(client, "p0");
  const [one] = fake.state.containers.values();
  assert.ok(one);
  const { annotations } = one.status;
  one.status.annotations = note(17 * MIB);
  await client.listContainers({});
  one.status.annotations = annotations;
  for (let round = 0; round < 40; round++) await client.listContainers({});
  assert.deepEqual(reports.at(-1), ["containers", { parts: false, leftOut: { pods: [], sandboxes: [] } }]);
  const before = callsOf(fake, "ListContainers");
  await client.listContainers({});
  assert.equal(callsOf(fake, "ListContainers"), before + 1);
});

test("another error of a list stays an error", async (t) => {
  const { fake, client } = await pair(t, { images: [IMAGE] }, { podUids: noUids });
  fake.failpoint("ListContainers", "error(INTERNAL: boom)");
  await assert.rejects(client.listContainers({}), /boom/);
  assert.equal(callsOf(fake, "ListPodSandbox"), 0);
});

test(
  "large parts beyond the sum are left out, and small pods are listed beside them",
  { timeout: 120_000 },
  async (t) => {
    const reports: Report[] = [];
    const options = { podUids: noUids, onParts: (...report: Report) => reports.push(report) };
    const { client } = await pair(t, { images: [IMAGE] }, options);
    const large = wanted(30).map((name) => `large-${name}`);
    for (const name of large) await makePod(client, name, { container: 3 * MIB });
    for (const name of wanted(5)) await makePod(client, name);
    const { containers } = await client.listContainers({});
    const listed = names(containers);
    assert.deepEqual(
      listed.filter((name) => !name.startsWith("large-")),
      wanted(5),
    );
    const leftOut = reports[0]?.[1].leftOut.pods ?? [];
    assert.equal(listed.length, 26 + 5);
    assert.equal(leftOut.length, large.length - 26);
  },
);
