// No two pods ever share an id, for any order of allocations, releases and files found on disk.

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type IdRange } from "../../../../src/main/containers/user-namespaces/id-range.js";
import { IdSlots } from "../../../../src/main/containers/user-namespaces/id-slots.js";
import { UserNamespaceError } from "../../../../src/main/containers/user-namespaces/user-namespace-error.js";

const overlap = (a: IdRange, b: IdRange): boolean => a.first < b.first + b.length && b.first < a.first + a.length;

test("any sequence of takes, claims and releases: no overlap, all in range, full only when full", () => {
  const range = { first: 10, length: 60 };
  const uid = fc.integer({ min: 0, max: 7 }).map(String);
  const action = fc.oneof(
    fc.record({ kind: fc.constant("take" as const), uid, size: fc.constantFrom(5, 10, 20) }),
    fc.record({
      kind: fc.constant("claim" as const),
      uid,
      first: fc.integer({ min: 0, max: 80 }),
      length: fc.integer({ min: 1, max: 25 }),
    }),
    fc.record({ kind: fc.constant("release" as const), uid }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      const slots = new IdSlots();
      const held = new Map<string, IdRange>();
      for (const each of actions) {
        if (each.kind === "release") {
          slots.release(each.uid);
          held.delete(each.uid);
          continue;
        }
        if (each.kind === "take" && held.has(each.uid)) continue;
        try {
          if (each.kind === "claim") {
            const slot = { first: each.first, length: each.length };
            slots.claim(each.uid, slot);
            held.set(each.uid, slot);
          } else {
            const slot = slots.allocate(each.uid, range, each.size);
            assert.ok(slot.first >= range.first && slot.first + slot.length <= range.first + range.length);
            assert.equal((slot.first - range.first) % each.size, 0);
            assert.equal(slot.length, each.size);
            held.set(each.uid, slot);
          }
        } catch (error) {
          assert.ok(error instanceof UserNamespaceError);
          if (each.kind === "take") {
            for (let first = range.first; first + each.size <= range.first + range.length; first += each.size) {
              const slot = { first, length: each.size };
              assert.ok(
                [...held.values()].some((other) => overlap(slot, other)),
                `${first} was free`,
              );
            }
          }
        }
        const all = [...held];
        for (const [a, one] of all) for (const [b, two] of all) assert.ok(a === b || !overlap(one, two));
        for (const [owner, slot] of all) assert.deepEqual(slots.of(owner), slot);
      }
    }),
  );
});

test("a slot that was released is handed out again, the lowest first", () => {
  const slots = new IdSlots();
  const range = { first: 10, length: 30 };
  for (const uid of ["a", "b", "c"]) slots.allocate(uid, range, 10);
  assert.throws(() => slots.allocate("d", range, 10), /none of the ids 10 to 39 is free/);
  slots.release("b");
  assert.deepEqual(slots.allocate("d", range, 10), { first: 20, length: 10 });
});

test("a claim of ids that another pod has names that pod", () => {
  const slots = new IdSlots();
  slots.claim("a", { first: 10, length: 10 });
  assert.throws(() => slots.claim("b", { first: 19, length: 10 }), /those of pod a too/);
  assert.throws(() => slots.claim("a", { first: 30, length: 10 }), /already has the ids from 10 on/);
  slots.claim("a", { first: 10, length: 10 });
});
