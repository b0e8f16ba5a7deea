// Components: the parts of the kubelet start in order, stop in reverse, and fail alone.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Components, running, type Component } from "../../../src/main/model/components.js";

function recorded() {
  const seen: string[] = [];
  const errors: string[] = [];
  const part = (name: string, faults: { start?: true; stop?: true } = {}): Component => ({
    name,
    start: () => {
      seen.push(`start ${name}`);
      if (faults.start) throw new Error(`${name} cannot start`);
    },
    stop: () => {
      seen.push(`stop ${name}`);
      if (faults.stop) throw new Error("broken");
    },
  });
  const log = {
    debug: () => undefined,
    error: (_fields: object, message: string) => void errors.push(message),
  };
  const build = (parts: Component[]) =>
    new Components(parts, log as unknown as ConstructorParameters<typeof Components>[1]);
  return { seen, errors, part, build };
}

describe("components", () => {
  test("start one after another and stop in reverse", async () => {
    const { seen, part, build } = recorded();
    const slow: Component = {
      ...part("b"),
      start: async () => {
        await new Promise(setImmediate);
        seen.push("b has started");
      },
    };
    const components = build([part("a"), slow, part("c")]);
    await components.start();
    await components.stop();
    assert.deepEqual(seen, ["start a", "b has started", "start c", "stop c", "stop b", "stop a"]);
  });

  test("when one cannot start, it and those before it are stopped, and the error is the caller's", async () => {
    const { seen, part, build } = recorded();
    const components = build([part("a"), part("b", { start: true }), part("c")]);
    await assert.rejects(components.start(), /b cannot start/);
    assert.deepEqual(seen, ["start a", "start b", "stop b", "stop a"]);
  });

  test("components that are added start in order and stop in reverse, after those of the list", async () => {
    const { seen, part, build } = recorded();
    const components = build([part("a")]);
    await components.start();
    const made = await components.add("b", () => Promise.resolve({ value: 1, stop: () => seen.push("stop b") }));
    await components.add("c", () => () => seen.push("stop c"));
    assert.equal(made.value, 1);
    await components.stop();
    assert.deepEqual(seen, ["start a", "stop c", "stop b", "stop a"]);
  });

  test("when one that is added cannot start, those before it are stopped, and the error is the caller's", async () => {
    const { seen, build } = recorded();
    const components = build([]);
    await components.add("a", () => ({ stop: () => seen.push("stop a") }));
    await components.add("b", () => ({ stop: () => seen.push("stop b") }));
    await assert.rejects(
      components.add("c", () => {
        throw new Error("c cannot start");
      }),
      /c cannot start/,
    );
    assert.deepEqual(seen, ["stop b", "stop a"]);
    await components.stop();
    assert.deepEqual(seen, ["stop b", "stop a"], "nothing is stopped twice");
  });

  test("one that cannot stop is logged, and the others stop", async () => {
    const { seen, errors, part, build } = recorded();
    const components = build([part("a"), part("b", { stop: true })]);
    await components.start();
    await components.stop();
    assert.deepEqual(seen.slice(2), ["stop b", "stop a"]);
    assert.deepEqual(errors, ["cannot stop b: broken"]);
  });

  test("a second stop stops nothing twice", async () => {
    const { seen, part, build } = recorded();
    const components = build([part("a")]);
    await components.start();
    await Promise.all([components.stop(), components.stop()]);
    assert.deepEqual(seen, ["start a", "stop a"]);
  });

  test("running() stops the components that its start made, and nothing before", async () => {
    const seen: string[] = [];
    const component = running("one", () => ({ stop: () => seen.push("stopped") }));
    await component.stop?.();
    assert.deepEqual(seen, []);
    await component.start?.();
    await component.stop?.();
    assert.deepEqual(seen, ["stopped"]);
  });
});
