// Failures: one class per cause, messages that help, deadlines and aborts that end the call on both sides.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { systemClock, type Clock, type Timer } from "../../../../src/shared/base/clock/clock.js";
import { LONGEST_SECONDS } from "../../../../src/shared/base/clock/durations.js";
import { armFaultPoint } from "../../../../src/shared/base/faults/fault-points.js";
import * as errors from "../../../../src/shared/kubernetes/cri/errors.js";
import { CRI_CODES, type CriCode, type CriError } from "../../../../src/shared/kubernetes/cri/errors.js";
import { StopContainerRequest } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { until } from "../../../support/sources-kit.js";
import { collect, fastTimers, IMAGE, pair, podConfig, runPod } from "./support.js";

async function failure(promise: Promise<unknown>): Promise<CriError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof errors.CriError, `not a CriError: ${String(error)}`);
    return error;
  }
  throw new assert.AssertionError({ message: "the call succeeded" });
}

const CLASSES: [CriCode, new (...args: never[]) => CriError][] = [
  ["NOT_FOUND", errors.CriNotFoundError],
  ["RESOURCE_EXHAUSTED", errors.CriResourceExhaustedError],
  ["CANCELLED", errors.CriCancelledError],
  ["UNAVAILABLE", errors.CriUnavailableError],
  ["DEADLINE_EXCEEDED", errors.CriDeadlineExceededError],
  ["UNIMPLEMENTED", errors.CriUnimplementedError],
];

test("every status code becomes a CriError with that code, and is an instance of exactly its class", async (context) => {
  const { fake, client, records } = await pair(context);
  for (const code of CRI_CODES.filter((name) => name !== "OK")) {
    fake.failpoint("ListImages", `1*error(${code}: because ${code})`);
    const error = await failure(client.listImages({}));
    assert.equal(error.code, code);
    assert.equal(error.verb, "ListImages");
    assert.equal(error.details, `because ${code}`);
    for (const [own, type] of CLASSES) assert.equal(error instanceof type, own === code, `${own} on ${code}`);
    assert.equal(records.at(-1)?.error, error, "the record carries the error");
  }
});

test("a call whose reply cannot be handled fails at once, and leaves no timer and no listener", async (context) => {
  let pending = 0;
  const after: Clock["after"] = (ms, fn) => {
    pending++;
    let isOver = false;
    const over = (): void => {
      if (!isOver) pending--;
      isOver = true;
    };
    const timer = systemClock.after(ms, () => {
      over();
      fn();
    });
    const counted: Timer = {
      cancel: () => {
        over();
        timer.cancel();
      },
      unref: () => {
        timer.unref();
        return counted;
      },
    };
    return counted;
  };
  const { client } = await pair(context, {}, { clock: { ...systemClock, after }, runtimeRequestTimeoutMs: 3_600_000 });
  const gone = new AbortController();
  armFaultPoint("cri-reply");
  const error = await failure(client.listImages({}, { signal: gone.signal }));
  assert.match(error.message, /thrown in cri-reply/);
  assert.equal(pending, 0);
  assert.equal(getEventListeners(gone.signal, "abort").length, 0);
});

test("the message names verb, object, endpoint and reason", async (context) => {
  const { client, fake } = await pair(context);
  const cases: [Promise<unknown>, string][] = [
    [client.containerStatus({ containerId: "c1" }), "ContainerStatus of container c1 "],
    [client.podSandboxStatus({ podSandboxId: "s1" }), "PodSandboxStatus of sandbox s1 "],
    [client.pullImage({ image: { image: "gone:1" } }), "PullImage of image gone:1 "],
    [
      client.createContainer({
        podSandboxId: "s2",
        sandboxConfig: podConfig("web"),
        config: { metadata: { name: "app" }, image: { image: IMAGE } },
      }),
      "CreateContainer of container app of pod web_default(uid-web) ",
    ],
  ];
  for (const [call, text] of cases) {
    const error = await failure(call);
    assert.ok(error instanceof errors.CriNotFoundError);
    assert.ok(error.message.includes(text), error.message);
    assert.ok(error.message.includes(fake.endpoint), error.message);
    assert.ok(error.message.includes("not found"), error.message);
  }
});

test("a sandbox name in use is AlreadyExists and names the pod", async (context) => {
  const { client } = await pair(context);
  await client.runPodSandbox({ config: podConfig("twice") });
  const error = await failure(client.runPodSandbox({ config: podConfig("twice") }));
  assert.equal(error.code, "ALREADY_EXISTS");
  assert.match(error.details, /reserved for "[0-9a-f]{64}"/);
  assert.match(error.message, /RunPodSandbox of pod twice_default\(uid-twice\)/);
});

for (const code of ["UNKNOWN", "FAILED_PRECONDITION"] as const) {
  test(`a name in use is AlreadyExists too when the runtime responds with ${code}, as versions of containerd do`, () => {
    const init = { verb: "RunPodSandbox", endpoint: "unix:///x", code } as const;
    const cases: [string, CriCode][] = [
      ['failed to reserve sandbox name "p_d_u_0": name "p_d_u_0" is reserved for "9fef"', "ALREADY_EXISTS"],
      ["error reserving pod name k8s_p for id 77: name is reserved", "ALREADY_EXISTS"],
      ["failed to reserve a subnet", code],
    ];
    for (const [details, expected] of cases)
      assert.equal(errors.criError({ ...init, details }).code, expected, details);
  });
}

test("the default deadline ends a hung call and cancels it at the runtime", async (context) => {
  const { client, fake, records } = await pair(context, {}, { runtimeRequestTimeoutMs: 100 });
  fake.failpoint("ContainerStatus", "hang");
  const begin = performance.now();
  const error = await failure(client.containerStatus({ containerId: "c" }));
  assert.ok(error instanceof errors.CriDeadlineExceededError);
  assert.ok(performance.now() - begin >= 95);
  assert.match(error.message, /runtimeRequestTimeout/);
  await until("the fake sees the cancellation", () => fake.calls[0]?.code === "CANCELLED");
  assert.ok((records[0]?.durationMs ?? 0) >= 95);
});

test("a verb's own deadline: twice the default for RunPodSandbox, grace on top for StopContainer", async (context) => {
  const ownMs = 1_000_000;
  const { client, fake } = await pair(context, {}, { runtimeRequestTimeoutMs: ownMs });
  const { containerId } = await runPod(client, "slow");
  await client.listImages({});
  await client.stopContainer({ containerId, timeout: 500n });
  // A call arrives with less time than its deadline: the machine has used the difference.
  const left = (verb: string): number => fake.calls.find((call) => call.verb === verb)?.remainingMs ?? NaN;
  const isWithin = (ms: number, [over, most]: [number, number]): boolean => ms > over && ms <= most;
  assert.ok(isWithin(left("RunPodSandbox"), [1.5 * ownMs, 2 * ownMs]), `RunPodSandbox: ${left("RunPodSandbox")} ms`);
  assert.ok(isWithin(left("ListImages"), [0.75 * ownMs, ownMs]), `ListImages: ${left("ListImages")} ms`);
  assert.ok(isWithin(left("StopContainer"), [1.25 * ownMs, 1.5 * ownMs]), `StopContainer: ${left("StopContainer")} ms`);
});

test("deadlineMs replaces the verb's deadline", async (context) => {
  const { client, fake } = await pair(context);
  fake.failpoint("PullImage", "hang");
  const error = await failure(client.pullImage({ image: { image: IMAGE } }, { deadlineMs: 50 }));
  assert.ok(error instanceof errors.CriDeadlineExceededError);
});

test("a timeout of 12,000 years is sent as 100 years, and no deadline is too far for gRPC", async (context) => {
  const { client, fake } = await pair(context);
  const { containerId } = await runPod(client, "patient");
  await client.stopContainer({ containerId, timeout: 400_000_000_000n });
  const sent = fake.calls.find(({ verb }) => verb === "StopContainer")?.request;
  assert.deepEqual(sent, StopContainerRequest.fromPartial({ containerId, timeout: BigInt(LONGEST_SECONDS) }));
  await client.version({}, { deadlineMs: Number.MAX_VALUE });
});

test("a deadline that is no duration fails the call as INVALID_ARGUMENT", async (context) => {
  const { client, fake } = await pair(context, { listStreams: true });
  for (const deadlineMs of [Number.NaN, -1]) {
    const unary = await failure(client.version({}, { deadlineMs }));
    assert.ok(unary.code === "INVALID_ARGUMENT", unary.message);
    const stream = await failure(collect(client.streamContainers({}, { deadlineMs })));
    assert.ok(stream.code === "INVALID_ARGUMENT", stream.message);
  }
  assert.equal(fake.calls.length, 0, "nothing was sent");
});

test("an abort before the call and in flight; the runtime sees the cancellation", async (context) => {
  const { client, fake } = await pair(context);
  const early = await failure(client.version({}, { signal: AbortSignal.abort(new Error("pod deleted")) }));
  assert.ok(early instanceof errors.CriCancelledError);
  assert.match(early.message, /pod deleted/);
  assert.equal(fake.calls.length, 0, "an aborted call is never sent");

  const atOnce = new AbortController();
  const called = failure(client.version({}, { signal: atOnce.signal }));
  atOnce.abort();
  assert.ok((await called) instanceof errors.CriCancelledError, "an abort in the tick of the call counts");

  fake.failpoint("PullImage", "hang");
  const controller = new AbortController();
  const pull = failure(client.pullImage({ image: { image: IMAGE } }, { signal: controller.signal }));
  await until("the pull arrives", () => fake.calls.length === 1);
  controller.abort(new Error("pod deleted"));
  const error = await pull;
  assert.ok(error instanceof errors.CriCancelledError);
  assert.match(error.message, /PullImage of image .*pod deleted/);
  await until("the fake sees the cancellation", () => fake.calls[0]?.code === "CANCELLED");
});

test("a start that was sent before the abort finishes: the runtime sees no cancellation", async (context) => {
  const { client, fake } = await pair(context);
  const { containerId } = await runPod(client, "web");
  await client.stopContainer({ containerId, timeout: 0n });
  for (const when of ["before", "after"] as const) {
    const sandboxConfig = podConfig(when);
    fake.failpoint("RunPodSandbox", "1*delay(200)", { when });
    const controller = new AbortController();
    const sent = fake.calls.length;
    const made = client.runPodSandbox({ config: sandboxConfig }, { signal: controller.signal });
    await until("the call arrives", () => fake.calls.length === sent + 1);
    controller.abort(new Error("pod deleted"));
    const { podSandboxId } = await made;
    assert.notEqual(podSandboxId, "");
    assert.equal(fake.calls[sent]?.code, "OK");
    const late = await failure(client.startContainer({ containerId }, { signal: controller.signal }));
    assert.ok(late instanceof errors.CriCancelledError, "a call after the abort is not sent");
    assert.equal(fake.calls.length, sent + 1);
  }
});

test("a start that hangs is cancelled some time after the abort", async (context) => {
  const { client, fake } = await pair(context, {}, { clock: fastTimers(50) });
  fake.failpoint("RunPodSandbox", "hang");
  const controller = new AbortController();
  const made = failure(
    client.runPodSandbox({ config: podConfig("web") }, { signal: controller.signal, deadlineMs: 60_000_000 }),
  );
  await until("the call arrives", () => fake.calls.length === 1);
  controller.abort(new Error("pod deleted"));
  const error = await made;
  assert.ok(error instanceof errors.CriCancelledError);
  assert.match(error.message, /RunPodSandbox of pod web_default.*pod deleted/);
  await until("the fake sees the cancellation", () => fake.calls[0]?.code === "CANCELLED");
});

test("a stream: Unimplemented where the runtime has none, cancelled on abort and when reading stops", async (context) => {
  const without = await pair(context);
  assert.ok((await failure(collect(without.client.getContainerEvents({})))) instanceof errors.CriUnimplementedError);
  assert.equal(without.records.length, 1);

  const { client, fake, records } = await pair(context, { events: true });
  const controller = new AbortController();
  const aborted = failure(collect(client.getContainerEvents({}, { signal: controller.signal })));
  await until("the stream is open", () => fake.state.eventListeners.size === 1);
  controller.abort();
  assert.ok((await aborted) instanceof errors.CriCancelledError);
  await until("the runtime dropped the stream", () => fake.state.eventListeners.size === 0);

  const read = (async () => {
    for await (const event of client.getContainerEvents({})) return event;
    return undefined;
  })();
  await until("the stream is open", () => fake.state.eventListeners.size === 1);
  const { podSandboxId } = await client.runPodSandbox({ config: podConfig("seen") });
  assert.equal((await read)?.containerId, podSandboxId);
  await until("the runtime dropped the stream", () => fake.state.eventListeners.size === 0);
  const streams = records.filter((record) => record.verb === "GetContainerEvents");
  assert.deepEqual(
    streams.map((record) => record.error?.code),
    ["CANCELLED", undefined],
  );
});

test("a reply without required fields is a CriBadReplyError", async (context) => {
  const { client, fake } = await pair(context);
  fake.addImage("empty.test/nothing:1", { size: 0 });
  const error = await failure(client.imageStatus({ image: { image: "empty.test/nothing:1" } }));
  assert.ok(error instanceof errors.CriBadReplyError);
  assert.match(error.message, /ImageStatus of image empty\.test\/nothing:1 .*the image has no size/);
});

test("replies over 4 MiB arrive, over 16 MiB they are ResourceExhausted", async (context) => {
  const { client, fake } = await pair(context);
  const big = async (name: string, bytes: number): Promise<void> => {
    const { podSandboxId } = await client.runPodSandbox({ config: podConfig(name) });
    const sandbox = fake.state.sandbox(podSandboxId);
    sandbox.status.annotations = { big: "x".repeat(bytes) };
  };
  await big("five", 5 * 1024 * 1024);
  await big("ten", 10 * 1024 * 1024);
  const { items } = await client.listPodSandbox({});
  assert.deepEqual(
    items.map((item) => item.annotations["big"]?.length).sort(),
    [5 * 1024 * 1024, 10 * 1024 * 1024].sort(),
  );
  await big("two", 2 * 1024 * 1024);
  assert.ok((await failure(client.listPodSandbox({}))) instanceof errors.CriResourceExhaustedError);
  await client.version({});
});

test("after close() calls fail with CriCancelledError", async (context) => {
  const { client } = await pair(context);
  await client.version({});
  client.close();
  assert.ok((await failure(client.version({}))) instanceof errors.CriCancelledError);
});

test("a command whose name no kernel executes does not reach the runtime", async (context) => {
  const { fake, client } = await pair(context);
  const verbs = ["ExecSync", "Exec", "CreateContainer"] as const;
  for (const verb of verbs) fake.failpoint(verb, "error(UNIMPLEMENTED: it came)");
  const calls = [
    (cmd: string[]) => client.execSync({ containerId: "c1", cmd }),
    (cmd: string[]) => client.exec({ containerId: "c1", cmd }),
    (command: string[]) => client.createContainer({ podSandboxId: "s1", config: { command } }),
  ];
  for (const call of calls) {
    const long = await failure(call(["x".repeat(4096)]));
    assert.equal(long.code, "UNKNOWN");
    assert.match(long.message, /: exec: "x{63}…": file name too long$/);
    const longest = await failure(call(["x".repeat(4095), "y".repeat(100_000)]));
    assert.equal(longest.code, "UNIMPLEMENTED");
  }
});
