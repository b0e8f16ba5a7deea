// Gives the pages of the program's own file back to the kernel when the kubelet is at rest: after its start, and after
// a time of work that mapped many of them again (docs/adr/0121).

import type { Clock } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { Loop } from "../../shared/base/turns/loop.js";
import { programRanges, releaseProgramPages, residentFileBytes, type Range } from "../../shared/io/os/program-pages.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";
import { processCpuMs, ProcessorShare, type ProcessorTime } from "../../shared/thread/processor-share.js";

const PERIOD_MS = 30_000;
/** Most use of one processor since the round before: a busier kubelet uses its pages. */
const CALM_SHARE = 0.1;
/** Fewer pages than this are not worth it: those that a kubelet at rest uses. */
const WORTH_BYTES = 8 * 1024 ** 2;

interface ProgramPagesDeps {
  clock: Clock;
  log: Logger;
  /** Processor time of the process, ms. */
  cpuMs?: ProcessorTime;
  ranges?: () => Promise<Range[]>;
  release?: (ranges: readonly Range[]) => Promise<void>;
  resident?: () => Promise<number>;
}

/** A kernel or a program with which this cannot be done ends it with a log line. */
export function startProgramPages(deps: ProgramPagesDeps): Loop {
  const { clock, log, cpuMs = processCpuMs, resident = residentFileBytes } = deps;
  const { ranges: find = programRanges, release = releaseProgramPages } = deps;
  let ranges: Range[] | undefined;
  let settled = 0;
  const share = new ProcessorShare(cpuMs, () => clock.monotonic());
  const loop = new Loop({
    round: async () => {
      if (share.next() >= CALM_SHARE || (await resident()) < settled + WORTH_BYTES) return undefined;
      ranges ??= await find();
      if (ranges.length === 0) return Infinity;
      await release(ranges);
      settled = await resident();
      return undefined;
    },
    periodMs: PERIOD_MS,
    failed: (error) => {
      const problem = `cannot give pages of the program back to the kernel: ${messageOf(error)}`;
      moduleLogger(log, "node").info(
        { err: error },
        `${problem}; the kubelet shows more memory, which the kernel can take`,
      );
      return Infinity;
    },
    clock,
  });
  loop.start(PERIOD_MS);
  return loop;
}
