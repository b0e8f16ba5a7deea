// Pods that complete are deleted at that moment.

import { objectsOf, podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const NAMES = Array.from({ length: 8 }, (_, index) => `ends-${index}`);
const RANK: Readonly<Record<string, number>> = { "": 0, Pending: 1, Running: 2, Succeeded: 3, Failed: 3 };
const CREATED_MS = 20 * SECOND;
const RUNS_MS = 10 * SECOND;

export const phaseAtTheEnd: Race = {
  name: "phase-at-the-end",
  promise: "The phase of a pod that is deleted as it completes never goes back, and a result stays",
  issue: "https://github.com/kubernetes/kubernetes/issues/54499",
  events: [
    ...NAMES.map((name, index) => {
      const script = { runsMs: RUNS_MS, exitCode: index % 2 };
      return [CREATED_MS, { do: "create", shape: podOf({ name, script, spec: { restartPolicy: "Never" } }) }] as const;
    }),
    // Around the moment at which they complete.
    ...NAMES.map((name, index) => {
      return [CREATED_MS + RUNS_MS + 60 * index, { do: "delete", name, graceSeconds: undefined }] as const;
    }),
  ],
  watch(world, broken) {
    const seen = NAMES.map((name) => objectsOf(world, name));
    return () => {
      seen.forEach((states, index) => {
        const name = NAMES[index] ?? "";
        if (states.length < 3) broken("the race did not come about", name);
        states.forEach(({ phase }, at) => {
          const before = states[at - 1]?.phase ?? "";
          const isBack = (RANK[phase] ?? 0) < (RANK[before] ?? 0);
          if (isBack || (RANK[before] === 3 && phase !== before)) broken(`${before} became ${phase}`, name);
        });
      });
    };
  },
};
