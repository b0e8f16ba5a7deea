// Orders of events in which a seed has broken a promise of this agent. The plans of seeds change; these stay.

import { callsOf, mirrorOf, objectsOf, podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const HERE = "docs/simulation.md";

export const startThatHangs: Race = {
  name: "start-that-hangs",
  promise: "The restart count stays when a pod ends whose next container was created and never started",
  issue: HERE,
  events: [
    [10 * SECOND, { do: "runtime-error", verb: "StartContainer", spec: "2*off->1*hang", when: "before" }],
    [
      20 * SECOND,
      {
        do: "create",
        shape: podOf({ name: "crashes", script: { runsMs: 5000, exitCode: 1 }, beside: { stopsMs: 6000 } }),
      },
    ],
    [70 * SECOND, { do: "delete", name: "crashes", graceSeconds: undefined }],
  ],
  watch(world, broken) {
    const calls = callsOf(world, "crashes");
    return () => {
      const count = (wanted: string): number => calls.filter(({ verb }) => verb === wanted).length;
      if (count("StartContainer") !== 3) broken("the race did not come about", "crashes");
    };
  },
};

export const stopThatFails: Race = {
  name: "stop-that-fails",
  promise: "The sandbox of a pod that completed under an earlier kubelet is stopped, though its first stops fail",
  issue: HERE,
  events: [
    [10 * SECOND, { do: "runtime-error", verb: "StopPodSandbox", spec: "4*error(UNKNOWN: failed)", when: "before" }],
    [
      20 * SECOND,
      { do: "create", shape: podOf({ name: "job", script: { runsMs: 5000 }, spec: { restartPolicy: "Never" } }) },
    ],
    [27 * SECOND, { do: "kill", downMs: 0 }],
  ],
  watch(world, broken) {
    const calls = callsOf(world, "job");
    return () => {
      const stops = calls.filter(({ verb }) => verb === "StopPodSandbox");
      if (!stops.some(({ atMs }) => atMs < 27 * SECOND)) broken("the race did not come about", "job");
      if (stops.length !== 5) broken(`the sandbox was stopped ${stops.length} times, not until it succeeded`, "job");
    };
  },
};

export const createdAndNotStarted: Race = {
  name: "created-and-not-started",
  promise: "The restart count stays when several creations of a container took effect and their answers were lost",
  issue: HERE,
  events: [
    [10 * SECOND, { do: "runtime-error", verb: "CreateContainer", spec: "3*error(UNKNOWN: lost)", when: "after" }],
    [10 * SECOND, { do: "runtime-error", verb: "RemoveContainer", spec: "2*error(UNKNOWN: failed)", when: "before" }],
    [20 * SECOND, { do: "create", shape: podOf({ name: "late" }) }],
  ],
  watch(world, broken) {
    const calls = callsOf(world, "late");
    return () => {
      const count = (wanted: string): number => calls.filter(({ verb }) => verb === wanted).length;
      if (count("CreateContainer") < 3) broken("the race did not come about", "late");
    };
  },
};

export const deadlineAfterABoot: Race = {
  name: "deadline-after-a-boot",
  promise: "A pod that may not start again after a boot, and of which a container never ran, fails at its deadline",
  issue: HERE,
  events: [
    [
      20 * SECOND,
      {
        do: "create",
        shape: {
          ...podOf({
            name: "partly",
            static: {},
            container: { image: "nodelet.local/none:1" },
            beside: {},
            spec: { restartPolicy: "Never", activeDeadlineSeconds: 20 },
            isSteady: false,
          }),
          hasDeadline: true,
        },
      },
    ],
    [60 * SECOND, { do: "reboot", downMs: 10 * SECOND }],
  ],
  watch(world, broken) {
    const starts = runsOf(world, "partly");
    const seen = objectsOf(world, mirrorOf("partly"));
    return () => {
      if (starts.length === 0) broken("the race did not come about", "partly");
      const last = seen.at(-1);
      if (last?.phase !== "Failed") broken(`the pod is ${last?.phase} after its deadline`, "partly");
    };
  },
};
