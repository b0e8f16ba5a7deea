// Which container of a pod a command takes, and when it says so.

import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { takenContainer } from "../../../src/cli/pods/pod-paths.js";
import { pod } from "../kit.js";

const container = (name: string) => ({ name, image: "i" });

/** The container, and what the command says. */
function taken(of: Parameters<typeof takenContainer>[0], named?: string): string[] {
  const said: string[] = [];
  return [takenContainer(of, named, (line) => said.push(line)), ...said];
}

test("of several containers the first is taken, and the command says so", () => {
  const two = pod({}, { containers: [container("app"), container("side")] });
  deepEqual(taken(two), ["app", 'Defaulted container "app" out of: app, side']);
  deepEqual(taken(two, "side"), ["side"]);
});

test("a pod of one container, and a pod with kubectl's annotation, leave no choice", () => {
  const one = pod({}, { containers: [container("app")], initContainers: [container("fetch")] });
  deepEqual(taken(one), ["app"]);
  const two = pod({}, { containers: [container("app"), container("side")] });
  const annotations = { "kubectl.kubernetes.io/default-container": "side" };
  deepEqual(taken({ ...two, metadata: { ...two.metadata, annotations } }), ["side"]);
});

test("a container that the pod does not have is refused with those that it has", () => {
  throws(() => taken(pod({}, { containers: [container("app")] }), "no"), /has no container no/);
});
