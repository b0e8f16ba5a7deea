// Delays of a reflector: long for a server that is down, short for one that fails now and then.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace, type Round } from "../../../../../../src/shared/kubernetes/api/client/reflect/pace.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";

const REFUSED: Round = { how: "failed", received: 0, livedMs: 5 };
const WATCHED: Round = { how: "broken", received: 3, livedMs: 3000 };

function paced(): { clock: SteppedClock; after: (round: Round) => number } {
  const clock = new SteppedClock();
  const pace = new Pace(clock, () => 0);
  return {
    clock,
    after(round) {
      clock.step(round.livedMs);
      const waitMs = pace.after(round);
      clock.step(waitMs);
      return waitMs;
    },
  };
}

test("refusals in a row are met with waits that double up to 30 s", () => {
  const { after } = paced();
  const waits = Array.from({ length: 7 }, () => after(REFUSED));
  assert.deepEqual(waits, [1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
});

test("two minutes of health make waits short again", () => {
  const { clock, after } = paced();
  for (let times = 0; times < 5; times++) after(REFUSED);
  clock.step(121_000);
  assert.equal(after(REFUSED), 1600);
});

test("watches that bring something take waits back: one refusal among them costs little", () => {
  const { after } = paced();
  for (let round = 0; round < 20; round++) {
    assert.equal(after(REFUSED), 1600);
    assert.equal(after(WATCHED), 0);
  }
});

test("a server that mostly refuses gets no more requests because of an occasional watch", () => {
  const { clock, after } = paced();
  let requests = 0;
  while (clock.monotonic() < 600_000) {
    for (let times = 0; times < 4; times++) after(REFUSED);
    after(WATCHED);
    requests += 5;
  }
  assert.ok(requests < 100, `${requests} requests in ten minutes`);
});

const ANEW: Round = { how: "anew", received: 0, livedMs: 5 };

test("a server that is reachable again gets a request for the set soon, after an outage of any length", () => {
  const { after } = paced();
  for (let outage = 0; outage < 3; outage++) {
    for (let times = 0; times < 5; times++) after(REFUSED);
    assert.ok(after(ANEW) <= 1600);
  }
});

test("a caller that alternates between both sends requests ever less often", () => {
  const { clock, after } = paced();
  const waits = Array.from({ length: 8 }, () => after(ANEW));
  assert.deepEqual(waits, [0, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
  clock.step(36_000);
  assert.equal(after(ANEW), 0);
});
