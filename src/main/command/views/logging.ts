// The kubelet's own log. Times are ms.

import { value as wholeUnits } from "../../../shared/kubernetes/api/quantity.js";
import type { ConfigReader } from "./reader.js";

export type LoggingSettings = Readonly<ReturnType<typeof loggingSettings>>;

/** By format. */
const OPTIONS = {
  text: { splitStream: "logging.options.text.splitStream", buffer: "logging.options.text.infoBufferSize" },
  json: { splitStream: "logging.options.json.splitStream", buffer: "logging.options.json.infoBufferSize" },
} as const;

export function loggingSettings(read: ConfigReader) {
  const logFormat = read.text("logging.format") === "json" ? ("json" as const) : ("text" as const);
  const options = OPTIONS[logFormat];
  return {
    verbosity: read.number("logging.verbosity"),
    vmodule: read.config.get("logging.vmodule") ?? [],
    logFormat,
    logFlushFrequencyMs: read.number("logging.flushFrequency"),
    /** Errors go to standard error, other lines to standard output. */
    logSplitStream: read.bool(options.splitStream),
    /** Bytes. */
    logInfoBufferBytes: Number(wholeUnits(read.config.get(options.buffer) ?? "0")),
  };
}
