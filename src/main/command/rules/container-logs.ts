// Logs of containers: directory and rotation.

import { posix } from "path/posix";
import { quoteStart } from "../../../shared/base/text/quote.js";
import { formatDuration } from "../duration.js";
import type { Violation } from "../violation.js";
import { inRange } from "./check.js";
import { readQuantity } from "./parse-reserved.js";
import type { ConfigView } from "./rule.js";

const MIN_MONITOR_MS = 3000;
const NANOS = 1_000_000_000n;

export function* containerLogs(config: ConfigView): Iterable<Violation> {
  yield* inRange(config, "containerLogMaxFiles", 2);
  yield* inRange(config, "containerLogMaxWorkers", 1);
  const interval = config.get("containerLogMonitorInterval");
  if (interval !== undefined && interval < MIN_MONITOR_MS) {
    yield {
      path: "containerLogMonitorInterval",
      message: `${formatDuration(interval)} is not a duration of at least 3s`,
    };
  }
  const size = config.get("containerLogMaxSize") ?? "";
  const quantity = readQuantity(size);
  if (quantity === undefined) {
    yield { path: "containerLogMaxSize", message: `${quoteStart(size)} is not a quantity such as 10Mi` };
  } else if (quantity.nanos % NANOS !== 0n) {
    yield { path: "containerLogMaxSize", message: `${quoteStart(size)} is not a whole number of bytes` };
  } else if (quantity.nanos === 0n) {
    const message = `${quoteStart(size)} is not a quantity above 0: every log is rotated at each check`;
    yield { path: "containerLogMaxSize", message, isTolerated: true };
  }
  const problem = directoryProblem(config.get("podLogsDir") ?? "");
  if (problem !== undefined) yield { path: "podLogsDir", message: problem };
}

function directoryProblem(directory: string): string | undefined {
  if (directory === "") return "is empty; the default is /var/log/pods";
  if (!directory.startsWith("/")) return `${quoteStart(directory)} is not an absolute path`;
  const clean = posix.normalize(directory).replace(/(.)\/$/, "$1");
  if (clean !== directory) return `${quoteStart(directory)} is not a normalized path; write ${clean}`;
  return /^[\x00-\x7f]*$/.test(directory)
    ? undefined
    : `${quoteStart(directory)} contains a character that is not ASCII`;
}
