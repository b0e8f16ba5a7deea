// The runtime makes a container, and its answer is lost: the name of the container is taken.

import { callsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

export const answerOfCreateIsLost: Race = {
  name: "answer-of-create-is-lost",
  promise: "A pod starts although the answers to the creation of its sandbox and of its container were lost",
  issue: "https://github.com/kubernetes/kubernetes/issues/94557",
  events: [
    [10 * SECOND, { do: "runtime-error", verb: "RunPodSandbox", spec: "1*error(UNKNOWN: lost)", when: "after" }],
    [10 * SECOND, { do: "runtime-error", verb: "CreateContainer", spec: "2*error(UNKNOWN: lost)", when: "after" }],
    [20 * SECOND, { do: "create", shape: podOf({ name: "reserved" }) }],
  ],
  watch(world, broken) {
    const calls = callsOf(world, "reserved");
    return () => {
      const count = (wanted: string): number => calls.filter(({ verb }) => verb === wanted).length;
      if (count("RunPodSandbox") < 1 || count("CreateContainer") < 2) broken("the race did not come about", "reserved");
      // That it runs, and only once, is the question of the invariants.
      if (count("StartContainer") !== 1) broken(`${count("StartContainer")} containers started`, "reserved");
    };
  },
};
