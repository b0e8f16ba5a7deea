// The settings of logging as src/shared/log takes them.
import type { LoggingConfig } from "../../../shared/log/logging-config.js";
import type { LoggingSettings } from "../../command/views/logging.js";

export function loggingConfigOf(settings: LoggingSettings): LoggingConfig {
  return {
    format: settings.logFormat,
    verbosity: settings.verbosity,
    vmodule: [...settings.vmodule],
    flushFrequencyMs: settings.logFlushFrequencyMs,
    splitStream: settings.logSplitStream,
    infoBufferBytes: settings.logInfoBufferBytes,
  };
}
