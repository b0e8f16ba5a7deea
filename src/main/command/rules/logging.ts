// The kubelet's own log, and the logs of containers.

import { quoteStart } from "../../../shared/base/text/quote.js";
import { formatDuration } from "../duration.js";
import type { Violation } from "../violation.js";
import { isInt32, needsGate } from "./check.js";
import { readQuantity } from "./parse-reserved.js";
import type { ConfigView } from "./rule.js";

const VERBOSITY = "is not a verbosity from 0 to 2147483647";
const OPTIONS = ["text", "json"] as const;

export function* logging(config: ConfigView): Iterable<Violation> {
  const flush = config.get("logging.flushFrequency");
  if (flush !== undefined && flush <= 0) {
    yield { path: "logging.flushFrequency", message: `${formatDuration(flush)} is not a duration above 0` };
  }
  if (config.get("logging.format") === "json" && !config.gate("LoggingBetaOptions")) {
    yield needsGate("logging.format", "LoggingBetaOptions");
  }
  const verbosity = config.get("logging.verbosity") ?? 0;
  if (!isInt32(verbosity)) yield { path: "logging.verbosity", message: `${verbosity} ${VERBOSITY}` };
  yield* vmodule(config);
  for (const format of OPTIONS) yield* options(config, format);
}

function* vmodule(config: ConfigView): Iterable<Violation> {
  const patterns = config.get("logging.vmodule") ?? [];
  const format = config.get("logging.format") ?? "text";
  if (patterns.length > 0 && format !== "text") {
    yield { path: "logging.vmodule", message: `works only with logging.format: text, not with ${quoteStart(format)}` };
  }
  for (const [index, { filePattern, verbosity }] of patterns.entries()) {
    const path = `logging.vmodule[${index}]`;
    if (filePattern === "")
      yield { path: `${path}.filePattern`, message: "is empty; set a module name or a pattern with *" };
    else if (/[=,]/.test(filePattern)) {
      yield {
        path: `${path}.filePattern`,
        message: `${quoteStart(filePattern)} contains "=" or ",", which are not allowed in a pattern`,
      };
    }
    if (!isInt32(verbosity)) yield { path: `${path}.verbosity`, message: `${verbosity} ${VERBOSITY}` };
  }
}

function* options(config: ConfigView, format: (typeof OPTIONS)[number]): Iterable<Violation> {
  const split = `logging.options.${format}.splitStream` as const;
  const buffer = `logging.options.${format}.infoBufferSize` as const;
  const alpha = config.gate("LoggingAlphaOptions");
  if (config.get(split) === true && !alpha) yield needsGate(split, "LoggingAlphaOptions");
  const text = config.get(buffer) ?? "0";
  const size = readQuantity(text);
  if (size === undefined) yield { path: buffer, message: `${quoteStart(text)} is not a quantity such as 64Ki` };
  else if (size.nanos !== 0n && !alpha) yield needsGate(buffer, "LoggingAlphaOptions");
}
