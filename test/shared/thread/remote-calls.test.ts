// Calls over a port: answers, errors that keep their identity, deadlines, and no call left pending.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { expose } from "comlink";
import { armFaultPoint } from "../../../src/shared/base/faults/fault-points.js";
import { portEndpoint } from "../../../src/shared/thread/endpoint.js";
import {
  ThreadCallTimeoutError,
  ThreadExitedError,
  rebuildError,
  serializeError,
} from "../../../src/shared/thread/errors.js";
import { RemoteCalls } from "../../../src/shared/thread/remote-calls.js";
import { until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

class LeaseError extends Error {
  override readonly name = "LeaseError";
  readonly code = "LEASE_LOST";
}

class Service {
  private calls = 0;
  count(): number {
    return ++this.calls;
  }
  fail(): Promise<never> {
    return Promise.reject(new LeaseError("lease lost"));
  }
  never(): Promise<void> {
    return new Promise(() => undefined);
  }
}

function connected() {
  const { port1, port2 } = new MessageChannel();
  const lost: unknown[] = [];
  const onLost = (error: unknown): void => void lost.push(error);
  expose(new Service(), portEndpoint(port2, onLost));
  const clock = new SteppedClock();
  const calls = new RemoteCalls<Service>("svc", clock, 1000);
  calls.connect(port1, onLost);
  const close = (): void => {
    port1.close();
    port2.close();
  };
  return { calls, clock, close, lost };
}

describe("remote calls", () => {
  test("answer, with the object's own this, and leave no timer behind", async () => {
    const { calls, clock, close } = connected();
    assert.equal(await calls.call.count(), 1);
    assert.equal(await calls.call.count(), 2);
    assert.equal(clock.pending, 0);
    assert.equal(calls.inFlight, 0);
    close();
  });

  test("carry name, code, message and stack of an error", async () => {
    const { calls, close } = connected();
    await assert.rejects(calls.call.fail(), (error: Error & { code?: string }) => {
      assert.equal(error.name, "LeaseError");
      assert.equal(error.code, "LEASE_LOST");
      assert.equal(error.message, "lease lost");
      assert.match(error.stack ?? "", /remote-calls\.test/);
      return true;
    });
    close();
  });

  test("reject at their own deadline", async () => {
    const { calls, clock, close } = connected();
    const slow = assert.rejects(calls.call.never(), ThreadCallTimeoutError);
    const quick = assert.rejects(calls.within(10).never(), /never to thread svc got no response within 10 ms/);
    clock.step(10);
    await quick;
    assert.equal(calls.inFlight, 1);
    clock.step(990);
    await slow;
    assert.equal(calls.inFlight, 0);
    close();
  });

  test("reject at their deadline when a message is lost on the way, and the loss is reported", async () => {
    const { calls, clock, close, lost } = connected();
    armFaultPoint("thread-message");
    const call = assert.rejects(calls.call.count(), ThreadCallTimeoutError);
    await until(() => lost.length > 0);
    assert.match(String(lost[0]), /thrown in thread-message/);
    clock.step(1000);
    await call;
    assert.equal(await calls.call.count(), 1);
    close();
  });

  test("reject at once when the connection ends, and until there is a new one", async () => {
    const { calls, clock, close } = connected();
    const pending = assert.rejects(calls.call.never(), ThreadExitedError);
    calls.disconnect("it died of old age");
    await pending;
    await assert.rejects(calls.call.count(), /old age/);
    assert.equal(clock.pending, 0);
    close();
  });

  test("reject an argument that cannot be cloned", async () => {
    const { calls, clock, close } = connected();
    const call = calls.call.count as unknown as (arg: unknown) => Promise<unknown>;
    await assert.rejects(
      call(() => undefined),
      { name: "DataCloneError" },
    );
    assert.equal(clock.pending, 0);
    close();
  });

  test("a proxy of calls is no thenable", async () => {
    const { calls, close } = connected();
    assert.equal(await Promise.resolve(calls.call), calls.call);
    close();
  });
});

describe("errors across threads", () => {
  const cases: [string, unknown, { name: string; code: string; message: string }][] = [
    ["a typed error", new LeaseError("x"), { name: "LeaseError", code: "LEASE_LOST", message: "x" }],
    ["a plain error", new TypeError("y"), { name: "TypeError", code: "", message: "y" }],
    ["a string", "thrown string", { name: "Error", code: "", message: "thrown string" }],
    ["a numeric code", Object.assign(new Error("z"), { code: 5 }), { name: "Error", code: "", message: "z" }],
    ["undefined", undefined, { name: "Error", code: "", message: "undefined" }],
  ];
  for (const [what, thrown, expected] of cases) {
    test(`${what} survives the way there and back`, () => {
      const { name, code, message } = rebuildError(structuredClone(serializeError(thrown)));
      assert.deepEqual({ name, code, message }, expected);
    });
  }
});
