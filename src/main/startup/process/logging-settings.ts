// The settings of logging as the log room takes them.
import { value } from "../../../shared/api/quantity.js";
import type { LoggingConfig } from "../../../shared/log/logging-config.js";
import type { Settings } from "../../command/settings.js";

export function loggingConfigOf(settings: Settings): LoggingConfig {
  const { logFormat: format, config } = settings;
  return {
    format,
    verbosity: settings.verbosity,
    vmodule: [...settings.vmodule],
    flushFrequencyMs: settings.logFlushFrequencyMs,
    splitStream: config.get(`logging.options.${format}.splitStream`) ?? false,
    infoBufferBytes: Number(value(config.get(`logging.options.${format}.infoBufferSize`) ?? "0")),
  };
}
