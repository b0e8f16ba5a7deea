import assert from "node:assert/strict";
import { test } from "node:test";
import { NodeResourcesHolder, raisedTo } from "../../../src/main/resources/node-resources.js";
import { parseQuantity, value } from "../../../src/shared/kubernetes/api/quantity.js";

const list = (given: Readonly<Record<string, string>>) =>
  new Map(Object.entries(given).map(([name, amount]) => [name, parseQuantity(amount)]));
const shown = (resources: ReturnType<typeof list> | ReadonlyMap<string, ReturnType<typeof parseQuantity>>) =>
  Object.fromEntries([...resources].map(([name, amount]) => [name, Number(value(amount))]));

test("devices are added to and removed from the machine's resources; each change is reported once", () => {
  const holder = new NodeResourcesHolder({ capacity: list({ cpu: "4" }), allocatable: list({ cpu: "3" }) });
  const calls: unknown[] = [];
  const end = holder.onChange(({ capacity, allocatable }) => calls.push([shown(capacity), shown(allocatable)]));
  const counts = (capacity: number, allocatable: number) => ({
    capacity: new Map([["example.com/gpu", capacity]]),
    allocatable: new Map([["example.com/gpu", allocatable]]),
  });
  holder.setDevices(counts(2, 1));
  holder.setDevices(counts(2, 1));
  holder.setDevices(counts(2, 2));
  assert.deepEqual(calls, [
    [
      { cpu: 4, "example.com/gpu": 2 },
      { cpu: 3, "example.com/gpu": 1 },
    ],
    [
      { cpu: 4, "example.com/gpu": 2 },
      { cpu: 3, "example.com/gpu": 2 },
    ],
  ]);
  end();
  holder.setDevices(counts(0, 0));
  assert.equal(calls.length, 2);
  assert.deepEqual(shown(holder.allocatable), { cpu: 3, "example.com/gpu": 0 });
});

test("raising keeps values that are enough", () => {
  const known = list({ cpu: "4", "example.com/a": "1", "example.com/b": "5" });
  const counts = new Map([
    ["example.com/a", 2],
    ["example.com/b", 3],
    ["example.com/c", 1],
  ]);
  assert.deepEqual(shown(raisedTo(known, counts)), {
    cpu: 4,
    "example.com/a": 2,
    "example.com/b": 5,
    "example.com/c": 1,
  });
});
