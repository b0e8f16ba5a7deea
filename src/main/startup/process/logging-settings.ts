// The settings of logging as the log room takes them.
import { value } from "../../../shared/api/quantity.js";
import type { LoggingConfig } from "../../../shared/log/logging-config.js";
import type { Settings } from "../../command/settings.js";

/** By format. */
const OPTIONS = {
  text: { splitStream: "logging.options.text.splitStream", buffer: "logging.options.text.infoBufferSize" },
  json: { splitStream: "logging.options.json.splitStream", buffer: "logging.options.json.infoBufferSize" },
} as const;

export function loggingConfigOf(settings: Settings): LoggingConfig {
  const { logFormat: format, config } = settings;
  return {
    format,
    verbosity: settings.verbosity,
    vmodule: [...settings.vmodule],
    flushFrequencyMs: settings.logFlushFrequencyMs,
    splitStream: config.get(OPTIONS[format].splitStream) ?? false,
    infoBufferBytes: Number(value(config.get(OPTIONS[format].buffer) ?? "0")),
  };
}
