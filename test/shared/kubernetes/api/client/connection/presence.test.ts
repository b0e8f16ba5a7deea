// Callers that wait for a server are notified of its return once. They are not notified of every success of a server
// that fails sometimes.
// @promise Cluster: A returning API server is called at once; one that fails occasionally is not called more often.
// @with test/shared/kubernetes/api/client/reflect/reflector.test.ts,
//   test/shared/kubernetes/api/client/reflect/pace.test.ts

import { deepEqual, equal, rejects } from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { Presence } from "../../../../../../src/shared/kubernetes/api/client/connection/presence.js";
import { CredentialError } from "../../../../../../src/shared/kubernetes/api/client/credentials/errors.js";
import { ApiConnectionError } from "../../../../../../src/shared/kubernetes/api/client/errors.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";

const REQUEST = { method: "GET", path: "/", headers: {}, body: undefined };
const refused = new Error("connect ECONNREFUSED");

function kit() {
  const clock = new SteppedClock();
  let answer: number | Error = 200;
  const presence = new Presence(
    {
      send: () =>
        answer instanceof Error
          ? Promise.reject(answer)
          : Promise.resolve({ status: answer, headers: {}, body: Readable.from([]) }),
    },
    clock,
  );
  let returns = 0;
  const end = presence.onReturn(() => returns++);
  const ask = async (what: number | Error, signal = new AbortController().signal): Promise<void> => {
    answer = what;
    const sent = presence.send(REQUEST, signal);
    await (what instanceof Error ? rejects(sent) : sent);
  };
  return { clock, presence, ask, end, returns: () => returns };
}

test("the first success after some seconds away is reported once", async () => {
  const { clock, ask, end, returns } = kit();
  await ask(200);
  await ask(refused);
  clock.step(1000);
  await ask(refused);
  clock.step(1000);
  await ask(200);
  equal(returns(), 1);
  await ask(200);
  equal(returns(), 1);
  end();
  await ask(refused);
  clock.step(60_000);
  await ask(200);
  equal(returns(), 1);
});

test("a server that fails now and then wakes no caller", async () => {
  const { clock, ask, returns } = kit();
  for (let i = 0; i < 100; i++) {
    await ask(i % 2 === 0 ? refused : 200);
    clock.step(900);
  }
  equal(returns(), 0);
});

const rows: [what: string, failure: number | Error, reason: Error | undefined, isAway: boolean][] = [
  ["refused", refused, undefined, true],
  ["overrun", 429, undefined, true],
  ["broken", 500, undefined, true],
  ["late", new Error("aborted"), new ApiConnectionError("no response within 10 s"), true],
  ["given up", new Error("aborted"), new Error("the kubelet is stopping"), false],
  ["without credentials", new CredentialError("no file"), undefined, false],
  ["not allowed", 403, undefined, false],
];
test("failures that count as absence", async () => {
  const seen: [string, boolean][] = [];
  for (const [what, failure, reason] of rows) {
    const { clock, ask, returns } = kit();
    const abort = new AbortController();
    if (reason !== undefined) abort.abort(reason);
    await ask(failure, abort.signal);
    clock.step(5000);
    await ask(404);
    equal(returns(), 0, "a refusal is no success");
    await ask(200);
    seen.push([what, returns() === 1]);
  }
  deepEqual(
    seen,
    rows.map(([what, , , isAway]) => [what, isAway]),
  );
});

test("a success on another connection is reported while ours fail", async () => {
  const { ask, presence, returns } = kit();
  presence.seenElsewhere();
  equal(returns(), 0);
  await ask(refused);
  presence.seenElsewhere();
  equal(returns(), 1);
});
