import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Labels } from "../../bench/flame/labels.js";
import { flamePicture } from "../../bench/flame/picture.js";
import { ownTimes, stacksOf, type CallFrame, type CpuProfile } from "../../bench/flame/stacks.js";

const frame = (functionName: string, url = ""): CallFrame => ({ functionName, url, lineNumber: 0, columnNumber: 0 });

/** root → a → b, root → (program), root → (idle) */
const PROFILE: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame("(root)"), children: [2, 4, 5] },
    { id: 2, callFrame: frame("a"), children: [3] },
    { id: 3, callFrame: frame("b") },
    { id: 4, callFrame: frame("(idle)") },
    { id: 5, callFrame: frame("(program)") },
  ],
  samples: [2, 3, 3, 4, 5],
  timeDeltas: [1000, 2000, 3000, 50_000, 4000],
};
const plain = ({ functionName }: CallFrame) => ({ name: functionName, folder: "native" });

describe("stacks of a CPU profile", () => {
  it("sum the time of each function and of those that it calls, without the thread's sleep", () => {
    const top = stacksOf(PROFILE, plain);
    assert.equal(top.totalMs, 10);
    assert.deepEqual(
      top.children.map(({ name, selfMs, totalMs }) => [name, selfMs, totalMs]),
      [
        ["a", 1, 6],
        ["(program)", 4, 4],
      ],
    );
  });

  it("show a frame without a label as part of the one above it", () => {
    const top = stacksOf(PROFILE, (of) => (of.functionName === "a" ? undefined : plain(of)));
    assert.deepEqual(
      top.children.map(({ name }) => name),
      ["b", "(program)"],
    );
    assert.equal(top.selfMs, 1);
  });

  it("give the functions by their own time, the most expensive first", () => {
    const [first, second] = ownTimes(stacksOf(PROFILE, plain));
    assert.deepEqual([first?.name, first?.selfMs, second?.name], ["b", 5, "(program)"]);
  });

  it("of no samples are empty", () => {
    assert.equal(stacksOf({ nodes: [] }, plain).totalMs, 0);
  });
});

describe("a flame picture", () => {
  it("has one rectangle per function, and escapes names", () => {
    const picture = flamePicture(
      "main & others",
      stacksOf(PROFILE, () => ({ name: "<anonymous>", folder: "main/pods/sync" })),
    );
    assert.match(picture, /main &amp; others/);
    assert.match(picture, /&lt;anonymous&gt;/);
    assert.doesNotMatch(picture, /<anonymous>/);
  });

  it("leaves out frames that are too narrow to be seen", () => {
    const wide = { name: "wide", folder: "node", selfMs: 9999, totalMs: 9999, children: [] };
    const narrow = { name: "narrow", folder: "node", selfMs: 1, totalMs: 1, children: [] };
    const top = { name: "all", folder: "", selfMs: 0, totalMs: 10_000, children: [wide, narrow] };
    const picture = flamePicture("main", top);
    assert.match(picture, /wide/);
    assert.doesNotMatch(picture, /narrow/);
  });
});

describe("labels of frames", () => {
  const labels = new Labels();
  const folderOf = (functionName: string, url: string): string | undefined =>
    labels.of(frame(functionName, url))?.folder;

  it("name the folder of the code", () => {
    assert.equal(folderOf("(garbage collector)", ""), "v8");
    assert.equal(folderOf("open", ""), "native");
    assert.equal(folderOf("request", "node:http2"), "node");
    assert.equal(folderOf("parse", "file:///app/node_modules/@grpc/grpc-js/build/src/call.js"), "packages");
    assert.equal(folderOf("pass", "file:///app/src/main/pods/sync/pod-worker.js"), "main/pods/sync");
  });

  it("leave out V8's root", () => {
    assert.equal(labels.of(frame("(root)")), undefined);
  });
});
