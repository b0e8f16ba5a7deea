import { equal } from "node:assert/strict";
import { test } from "node:test";
import { CpuRates } from "../../../../src/workers/server/stats/cpu-rates.js";

const SECOND = 1000;

test("a rate needs two samples a second apart, then stays until the next", () => {
  const rates = new CpuRates();
  equal(rates.rate("a", 0, 0), undefined);
  equal(rates.rate("a", 0.9 * SECOND, 5e8), undefined);
  equal(rates.rate("a", 2 * SECOND, 1e9), 5e8);
  equal(rates.rate("a", 12 * SECOND, 6e9), 5e8);
  // The window began anew: a sample within its first second brings no rate of its own.
  equal(rates.rate("a", 12.5 * SECOND, 9e9), 5e8);
  equal(rates.rate("a", 14 * SECOND, 6e9), 0);
});

test("a counter that went back is another cgroup of that name", () => {
  const rates = new CpuRates();
  rates.rate("a", 0, 9e9);
  equal(rates.rate("a", 5 * SECOND, 10e9), 2e8);
  equal(rates.rate("a", 6 * SECOND, 1), undefined);
  equal(rates.rate("a", 7 * SECOND, 1e9 + 1), 1e9);
});

test("a clock that was set back starts the rates again, and no rate is below 0", () => {
  const rates = new CpuRates();
  rates.rate("a", 100 * SECOND, 1e9);
  equal(rates.rate("a", 10 * SECOND, 2e9), undefined);
  equal(rates.rate("a", 12 * SECOND, 3e9), 5e8);
});

test("a cgroup that is sampled no more is forgotten", () => {
  const rates = new CpuRates();
  rates.rate("gone", 0, 1);
  rates.rate("there", 5 * SECOND, 1);
  rates.forgetBefore(5 * SECOND);
  equal(rates.size, 1);
});
