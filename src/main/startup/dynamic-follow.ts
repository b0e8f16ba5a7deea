// --dynamic-config-dir while the node runs: a changed configuration is examined apart from this process, then taken over
// in place or by a restart.
import { systemClock } from "../../shared/clock/clock.js";
import { BoardReader } from "../../shared/queue/board.js";
import type { DynamicConfig } from "./dynamic-config/dynamic-config.js";
import { differences } from "./dynamic-config/examine.js";
import { examineApart, ExaminationError } from "./examine-apart.js";
import { followConfiguration, type FollowedConfig } from "./dynamic-config/follow.js";
import type { ConfigFiles } from "./dynamic-config/config-files.js";
import { lateThreads } from "./late-threads.js";
import type { Logging } from "./logging.js";
import type { NodeThreads } from "./node-threads.js";
import { WATCHDOG_LIMITS } from "./systemd.js";

export interface FollowParts {
  dynamic: DynamicConfig;
  logging: Logging;
  threads: Pick<NodeThreads, "house">;
  restart: (reason: string) => void;
}

export function followChanges({ dynamic, logging, threads, restart }: FollowParts): FollowedConfig {
  const argv = process.argv.slice(2);
  const board = new BoardReader(threads.house.board, systemClock);
  const valuesOf = async (files: ConfigFiles): Promise<Readonly<Record<string, string>>> => {
    const examined = await examineApart(argv, files);
    if (!examined.ok) throw new ExaminationError(examined.problems.join("; "));
    return examined.values;
  };
  dynamic.validate = (files) => examineApart(argv, files);
  return followConfiguration(dynamic, {
    healthy: () => lateThreads(board.snapshot(), WATCHDOG_LIMITS).length === 0,
    restartInPlace: (reason) => {
      restart(reason);
      return new Promise<never>(() => undefined);
    },
    changedPaths: async (before, after) => differences(await valuesOf(before), await valuesOf(after)),
    applyInPlace: async (_changed, files) => {
      const { "logging.verbosity": verbosity } = await valuesOf(files);
      if (verbosity === undefined) return false;
      logging.verbosity = Number(verbosity);
      return true;
    },
  });
}
