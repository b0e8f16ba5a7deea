// Another kubelet ran here: its cpu_manager_state is read, and there are no records of its pods. The order in which
// they are admitted is another one than before, so each would get the other's CPU.

import { runningContainerCpus } from "../world/container-cpus.js";
import { NODE_WITH_CPUS } from "./nodes.js";
import { podOf } from "./pods.js";
import { SECOND, type Race } from "./race.js";

const values = { cpu: "1", memory: "16Mi" };

function withOneCpu(name: string): ReturnType<typeof podOf> {
  const container = { resources: { requests: values, limits: values } };
  return { ...podOf({ name, container }), cpus: { main: 1 } };
}

export const cpusWithoutRecords: Race = {
  name: "cpus-without-records",
  promise: "Running pods keep their exclusive CPUs though no record names them",
  issue: "docs/simulation.md",
  node: NODE_WITH_CPUS,
  events: [
    [20 * SECOND, { do: "create", shape: withOneCpu("b") }],
    [25 * SECOND, { do: "create", shape: withOneCpu("a") }],
    [30 * SECOND, { do: "create", shape: podOf({ name: "shares" }) }],
    [60 * SECOND, { do: "upgrade", from: "upstream", downMs: 1000 }],
    [61 * SECOND, { do: "create", shape: withOneCpu("0-new") }],
  ],
  watch: (world, broken) => () => {
    const owners = runningContainerCpus(world).filter(({ own }) => own > 0);
    if (owners.length !== 3) broken(`${owners.length} of three pods run with a CPU of their own`);
  },
};
