// Work that begins shortly after the start, when the first pods are starting. It makes the iptables chains, warns about the machine, and
// measures the delay of the event loop.
import type { Clock } from "../../shared/clock/clock.js";
import { messageOf } from "../../shared/errors/thrown.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";

const IPTABLES_DELAY_MS = 5000;

export interface LateIptablesDeps {
  /** The field: false disables this. */
  makeIPTablesUtilChains: boolean;
  clock: Clock;
  log: Logger;
}

export function startLateIptables({ makeIPTablesUtilChains, clock, log: parent }: LateIptablesDeps): {
  stop(): Promise<void>;
} {
  const ending = new AbortController();
  const { signal } = ending;
  const log = moduleLogger(parent, "iptables");
  const run = async (): Promise<void> => {
    await clock.sleep(IPTABLES_DELAY_MS, signal);
    const { keepIptablesChains } = await import("../network/iptables-chains.js");
    await Promise.all([
      keepIptablesChains({ program: "iptables", firewall: true, clock, log }, signal),
      keepIptablesChains({ program: "ip6tables", firewall: false, clock, log }, signal),
    ]);
  };
  const running = makeIPTablesUtilChains
    ? run().catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, `cannot maintain the chains in iptables: ${messageOf(error)}`);
      })
    : Promise.resolve();
  return {
    async stop() {
      ending.abort(new Error("the kubelet is stopping"));
      await running;
    },
  };
}
