// The removal of thousands of pods without a cgroup reads the classes a few times, not once for each pod.

import assert from "node:assert/strict";
import { test } from "node:test";
import { keyOf, TierListing } from "../../../../src/main/resources/cgroups/tier-listing.js";

const TIERS = [["kubepods", "besteffort"], ["kubepods"]];

function build() {
  const state = { lists: 0, children: ["pod-a"], error: undefined as Error | undefined };
  const listing = new TierListing(
    async () => {
      state.lists++;
      const { children } = state;
      await new Promise((resolve) => setImmediate(resolve));
      if (state.error !== undefined) throw state.error;
      return children;
    },
    () => TIERS,
  );
  return { state, listing };
}

test("thousands of requests at once share one listing, and those during it share the next", async () => {
  const { state, listing } = build();
  const first = Array.from({ length: 5000 }, () => listing.children());
  await new Promise((resolve) => setImmediate(resolve));
  // The first listing has begun: it may be older than what these look for.
  state.children = ["pod-a", "pod-b"];
  const second = Array.from({ length: 5000 }, () => listing.children());
  const key = keyOf(["kubepods"], "pod-b");
  for (const found of await Promise.all(second)) assert.ok(found.has(key));
  const [early] = await Promise.all(first);
  assert.ok(early?.has(keyOf(["kubepods", "besteffort"], "pod-a")));
  assert.ok(state.lists <= 2 * TIERS.length, String(state.lists));
});

test("a listing that fails is an error of those who wait for it, and no later one's", async () => {
  const { state, listing } = build();
  state.error = new Error("EIO");
  await assert.rejects(listing.children(), /EIO/);
  state.error = undefined;
  assert.equal((await listing.children()).size, 2);
});
