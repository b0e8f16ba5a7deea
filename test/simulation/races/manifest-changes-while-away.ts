// The manifest of a static pod changes while no kubelet runs, and the API server is away at its start.

import { ContainerState } from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { kernel } from "../kernel/kernel.js";
import { podNameOf } from "../world/pod-facts.js";
import { podOf, runsOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

export const manifestChangesWhileAway: Race = {
  name: "manifest-changes-while-away",
  promise: "A static pod whose manifest changed before all sources were read runs once, in its new form",
  issue: "https://github.com/kubernetes/kubernetes/issues/112814",
  events: [
    [20 * SECOND, { do: "create", shape: podOf({ name: "control", static: {} }) }],
    [60 * SECOND, { do: "kill", downMs: 10_000 }],
    [62 * SECOND, { do: "edit", name: "control", image: "nodelet.local/b:1" }],
    [62 * SECOND, { do: "api-away", ms: 90_000 }],
  ],
  watch(world, broken) {
    const runs = runsOf(world, "control");
    const running = (): string[] =>
      [...world.runtime.state.containers.values()]
        .filter(
          ({ config, status }) =>
            podNameOf(config.labels) === "control" && status.state === ContainerState.CONTAINER_RUNNING,
        )
        .map(({ config }) => config.image?.userSpecifiedImage ?? "");
    world.runtime.state.eventListeners.add(() => {
      const images = running();
      if (images.length > 1)
        broken(`it runs ${images.length} times at ${kernel.monotonic} ms: ${images.join()}`, "control");
    });
    return () => {
      if (runs.filter(({ did }) => did === "start").length !== 2)
        broken(`it ran as ${JSON.stringify(runs)}`, "control");
      if (running().join() !== "nodelet.local/b:1") broken(`it runs as ${running().join()}`, "control");
    };
  },
};
