// What the stats routes are told, for tests that are about something else.
import type { StatsInit } from "../../src/shared/contracts/server.js";

export const STATS_INIT: StatsInit = {
  rootDir: "/nowhere",
  podLogsDir: "/nowhere",
  cgroupRoot: "/nowhere",
  cgroupsPerQOS: true,
  kubeletCgroups: "",
  runtimeCgroups: "",
  systemCgroups: "",
  runtimeEndpoint: "unix:///nowhere",
  imageEndpoint: "unix:///nowhere",
  runtimeRequestTimeoutMs: 1000,
  volumeStatsAggPeriodMs: 60_000,
  localStorageCapacityIsolation: true,
  fromRuntime: false,
};
