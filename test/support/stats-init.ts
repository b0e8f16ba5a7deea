// Init data of the stats routes, for tests of other things.

import type { ServerInit, StatsInit } from "../../src/shared/contracts/server.js";

export const STATS_INIT: StatsInit = {
  rootDir: "/nowhere",
  podLogsDir: "/nowhere",
  cgroupRoot: "/nowhere",
  cgroupsPerQOS: true,
  kubeletCgroups: "",
  runtimeCgroups: "",
  systemCgroups: "",
  runtimeEndpoint: "unix:///nowhere",
  volumeStatsAggPeriodMs: 60_000,
  localStorageCapacityIsolation: true,
  podAndContainerStatsFromCRI: false,
};

export const RUNTIME_INIT: ServerInit["runtime"] = {
  endpoint: "unix:///nowhere",
  imageEndpoint: "unix:///nowhere",
  requestTimeoutMs: 1000,
  listStreaming: false,
  criChannel: "own",
};
