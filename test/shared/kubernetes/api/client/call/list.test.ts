import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { Readable } from "node:stream";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { readList } from "../../../../../../src/shared/kubernetes/api/client/call/list.js";
import { Turn } from "../../../../../../src/shared/kubernetes/api/client/decode/turn.js";
import { NODES } from "../../../../../../src/shared/kubernetes/api/client/kinds.js";
import type { Node } from "../../../../../../src/shared/kubernetes/api/node.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";
import { startRig } from "../client-kit.js";

const LIST = { kind: "NodeList", metadata: { resourceVersion: "7" }, items: [{ metadata: { name: "ä" } }, { a: [] }] };
const whole = { metadata: LIST.metadata, items: LIST.items };
const read = (text: string, size = 5) => {
  const bytes = Buffer.from(text);
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) blocks.push(bytes.subarray(at, at + size));
  return readList({ status: 200, headers: {}, body: Readable.from(blocks) }, new Turn(new SteppedClock()));
};

describe("a list", () => {
  it("is read from blocks of any size", async () => {
    for (const size of [1, 3, 1000]) deepEqual(await read(JSON.stringify(LIST), size), whole);
  });
  it("may be null, come before its metadata, or be spelt oddly", async () => {
    deepEqual(await read('{"metadata":{},"items":null}'), { metadata: {}, items: [] });
    deepEqual(await read('{"items":[1],"metadata":{}}'), { metadata: {}, items: [1] });
    deepEqual(await read('{"\\u0069tems":[1,2],"metadata":{}}'), { metadata: {}, items: [1, 2] });
  });
  for (const text of [
    "",
    "[]",
    "null",
    "{}",
    '{"items":[{}]}',
    '{"metadata":{},"items":[{},{"a"',
    '{"metadata":{},"items":[,]}',
  ]) {
    it(`is not ${text === "" ? "nothing" : text}`, () => rejects(read(text), { name: "BodyError" }));
  }

  it("has each item changed once, as soon as it is whole", async () => {
    const seen: string[] = [];
    const rename = (node: Node): Node => {
      seen.push(node.metadata.name ?? "");
      return { metadata: { name: `${node.metadata.name ?? ""}!` } };
    };
    async function* blocks() {
      yield Buffer.from('{"metadata":{},"items":[{"metadata":{"name":"a"}},{"meta');
      await new Promise((resolve) => setImmediate(resolve));
      deepEqual(seen, ["a"], "the second one is not there yet");
      yield Buffer.from('data":{"name":"b"}}]}');
    }
    const response = { status: 200, headers: {}, body: Readable.from(blocks()) };
    const { items } = await readList(response, new Turn(new SteppedClock()), undefined, rename);
    deepEqual(
      items.map(({ metadata }) => metadata.name),
      ["a!", "b!"],
    );
  });
  it("that is spelt oddly has its items changed, too", async () => {
    const body = Readable.from([Buffer.from('{"\\u0069tems":[1,2],"metadata":{}}')]);
    const answer = { status: 200, headers: {}, body };
    const { items } = await readList<number>(answer, new Turn(new SteppedClock()), undefined, (item) => -item);
    deepEqual(items, [-1, -2]);
  });

  for (const disableCompression of [false, true]) {
    it(`comes ${disableCompression ? "as it is where compression is off" : "packed where the server packs"}`, async () => {
      await using rig = await startRig({
        config: { disableCompression },
        answer: ({ headers }, response) => {
          const isPacked = headers["accept-encoding"] === "gzip";
          equal(isPacked, !disableCompression);
          if (isPacked) response.setHeader("content-encoding", "gzip");
          response.end(isPacked ? gzipSync(JSON.stringify(LIST)) : JSON.stringify(LIST));
        },
      });
      deepEqual(await rig.client.list(NODES), whole);
    });
  }
});

it("work continues for 2 ms, then others have their turn", async () => {
  const clock = new SteppedClock();
  const turn = new Turn(clock);
  clock.step(1.9);
  equal(turn.isOver, false);
  clock.step(0.1);
  ok(turn.isOver);
  let others = 0;
  setImmediate(() => (others += 1));
  for (let i = 0; i < 5 && others === 0; i++) await turn.next();
  equal(others, 1);
  equal(turn.isOver, false);
});
