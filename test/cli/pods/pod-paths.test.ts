// Which container of a pod a command takes, and when it says so.

import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { choiceOfContainer, containerName } from "../../../src/cli/pods/pod-paths.js";
import { pod } from "../kit.js";

const container = (name: string) => ({ name, image: "i" });

test("of several containers the first is taken, and the command says so", () => {
  const two = pod({}, { containers: [container("app"), container("side")] });
  equal(containerName(two, undefined), "app");
  equal(choiceOfContainer(two, undefined), 'Defaulted container "app" out of: app, side');
  equal(choiceOfContainer(two, "side"), undefined);
});

test("a pod of one container, and a pod with kubectl's annotation, leave no choice", () => {
  const one = pod({}, { containers: [container("app")], initContainers: [container("fetch")] });
  equal(choiceOfContainer(one, undefined), undefined);
  const two = pod({}, { containers: [container("app"), container("side")] });
  const annotations = { "kubectl.kubernetes.io/default-container": "side" };
  const annotated = { ...two, metadata: { ...two.metadata, annotations } };
  equal(containerName(annotated, undefined), "side");
  equal(choiceOfContainer(annotated, undefined), undefined);
});

test("a container that the pod does not have is refused with those that it has", () => {
  throws(() => choiceOfContainer(pod({}, { containers: [container("app")] }), "no"), /has no container no/);
});
