import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OtherThreads } from "../../../src/main/kubelet/other-threads.js";
import type { CallOptions, CriCalls } from "../../../src/shared/kubernetes/cri/verbs.js";
import { SteppedClock } from "../../support/stepped-clock.js";

function made() {
  const clock = new SteppedClock();
  let starts = 0;
  const others = new OtherThreads(clock, () => starts++);
  const sent: CallOptions[] = [];
  const runPodSandbox: CriCalls["runPodSandbox"] = (_request, options = {}) => {
    sent.push(options);
    return Promise.resolve({ podSandboxId: "s" });
  };
  return { clock, others, sent, cri: others.behindFirstSandbox({ runPodSandbox }), starts: () => starts };
}

describe("threads that no pod waits for", () => {
  it("they start once, after the first RunPodSandbox was sent, and the caller hears of that too", async () => {
    const { clock, others, sent, cri, starts } = made();
    others.start();
    let heard = 0;
    await cri.runPodSandbox({}, { onSent: () => heard++ });
    clock.step(0);
    assert.equal(starts(), 0, "the call waits for its place");
    for (const { onSent } of sent) onSent?.();
    clock.step(0);
    assert.deepEqual({ starts: starts(), heard }, { starts: 1, heard: 1 });
    await cri.runPodSandbox({});
    sent.at(-1)?.onSent?.();
    clock.step(1000);
    assert.equal(starts(), 1);
  });

  it("they start soon on a node that starts no sandbox, and at once when nothing has to be first", () => {
    const one = made();
    one.others.start();
    one.clock.step(249);
    assert.equal(one.starts(), 0);
    one.clock.step(1);
    assert.equal(one.starts(), 1);
    const two = made();
    two.others.start();
    two.others.now();
    assert.equal(two.starts(), 1);
  });

  it("they do not start after a stop", () => {
    const { clock, others, starts } = made();
    others.start();
    others.stop();
    others.now();
    clock.step(1000);
    assert.equal(starts(), 0);
  });
});
