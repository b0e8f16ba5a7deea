// Container logs and their rotation.

import { value as wholeUnits } from "../../../shared/kubernetes/api/quantity.js";
import type { ConfigReader } from "./reader.js";

export type ContainerLogSettings = Readonly<ReturnType<typeof containerLogSettings>>;

export function containerLogSettings(read: ConfigReader) {
  const size = Number(wholeUnits(read.text("containerLogMaxSize")));
  return {
    podLogsDir: read.text("podLogsDir"),
    /** Bytes; Infinity: no log is rotated. */
    containerLogMaxSize: size < 0 ? Infinity : size,
    containerLogMaxFiles: read.number("containerLogMaxFiles"),
    containerLogMaxWorkers: read.number("containerLogMaxWorkers"),
    containerLogMonitorIntervalMs: read.number("containerLogMonitorInterval"),
  };
}
