// --dynamic-config-dir at start: which configuration this start reads, out of the files and the checkpoints.

import { systemClock } from "../../shared/base/clock/clock.js";
import { createLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import { readConfigSources } from "../command/agent-flags.js";
import { readCommandLine } from "../command/command-line.js";
import type { CommandIo } from "../command/settings.js";
import { ClusterSource } from "./dynamic-config/cluster-source.js";
import { ioOf } from "./dynamic-config/config-io.js";
import type { ConfigEvent, DynamicConfig } from "./dynamic-config/dynamic-config.js";
import { examine } from "./dynamic-config/examine.js";
import { LocalSource } from "./dynamic-config/local-source.js";
import { prepareConfiguration } from "./dynamic-config/prepare.js";
import { commandIo } from "./unix/command-io.js";

export interface DynamicStart {
  dynamic: DynamicConfig;
  /** Reads the chosen configuration. */
  io: CommandIo;
}

/** Flags that print a result without a run. */
const QUESTIONS = ["check-config", "print-config"];

/** undefined when the command line does not enable it, or starts no kubelet. @throws OperatorError */
export async function startDynamic(argv: readonly string[]): Promise<DynamicStart | undefined> {
  const { given, help, version } = readCommandLine(argv);
  const text = (flag: string): string => {
    const value = given.get(flag)?.value;
    return typeof value === "string" ? value : "";
  };
  const directory = text("dynamic-config-dir");
  if (directory === "" || help || version !== undefined || QUESTIONS.some((flag) => given.has(flag))) return undefined;
  const log = createLogger({ thread: "main" });
  const [config, dropIns] = [text("config"), text("config-dir")];
  const paths = { config: config || undefined, dropIns: dropIns || undefined };
  const local = new LocalSource(paths, systemClock, log);
  const allowedSources = readConfigSources(given);
  const dynamic = await prepareConfiguration({
    directory,
    source: text("kubeconfig") === "" ? local : new ClusterSource(local, allowedSources),
    allowedSources,
    validate: (files) => examine(argv, files, commandIo, "as upstream"),
    record: (event) => recordEvent(event, log),
    clock: systemClock,
    log,
  });
  return { dynamic, io: dynamic.files === undefined ? commandIo : ioOf(dynamic.files, commandIo) };
}

/** Until the node runs, events are lines of the log. */
function recordEvent({ type, reason, message }: ConfigEvent, log: Logger): void {
  log[type === "Warning" ? "warn" : "info"]({ reason, type }, message);
}
