// Values of a thread that change before, while and after it starts.

import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { ThreadValues } from "../../../src/main/threads/thread-values.js";

interface Values {
  one: string;
  two: string;
}

function valuesOf(send: (key: keyof Values, value: string) => Promise<void>) {
  const warned: string[] = [];
  const log = { warn: (_fields: unknown, text?: string) => void warned.push(text ?? "") } as never;
  const names = { one: "the first", two: "the second" };
  return { warned, values: new ThreadValues<Values>({ first: { one: "a", two: "b" }, send, names, thread: "t", log }) };
}

test("a value that changes while the thread starts is sent once it takes calls, also during the sending of another", async () => {
  const sent: string[] = [];
  const { values } = valuesOf((key, value) => {
    sent.push(`${key}=${value}`);
    if (value === "d") values.set("one", "e");
    return Promise.resolve();
  });
  deepEqual(values.forInit(), { one: "a", two: "b" });
  values.set("one", "c");
  values.set("two", "d");
  equal(sent.length, 0);
  await values.join();
  deepEqual(sent, ["one=c", "two=d", "one=e"]);
  values.set("two", "f");
  equal(sent.at(-1), "two=f");
});

test("what the thread got with its init is not sent again", async () => {
  const { values } = valuesOf(() => Promise.reject(new Error("not asked")));
  values.set("one", "c");
  deepEqual(values.forInit(), { one: "c", two: "b" });
  await values.join();
});

test("a thread that ended gets the newest values with its next init", async () => {
  const { values } = valuesOf(() => Promise.resolve());
  values.forInit();
  await values.join();
  values.leave();
  values.set("two", "z");
  equal(values.forInit().two, "z");
});

test("a value that a starting thread refuses fails its start; one that a running thread refuses is a warning", async () => {
  const { values, warned } = valuesOf(() => Promise.reject(new Error("no")));
  values.forInit();
  values.set("one", "c");
  await rejects(values.join(), /no/);
  values.forInit();
  await values.join();
  values.set("two", "d");
  await new Promise(setImmediate);
  deepEqual(warned, ["the t thread did not accept the second"]);
});
