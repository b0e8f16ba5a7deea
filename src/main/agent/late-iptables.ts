// When iptables is looked at: once the first pods are on their way. Nothing of this node waits for its chains.
import type { Clock } from "../../shared/clock/clock.js";
import { messageOf } from "../../shared/errors/thrown.js";
import { moduleLogger, type Logger } from "../../shared/log/logger.js";

const AFTER_START_MS = 5000;

export interface LateIptablesParts {
  /** The field: false makes none of it run. */
  makeIPTablesUtilChains: boolean;
  clock: Clock;
  log: Logger;
}

export function startLateIptables({ makeIPTablesUtilChains, clock, log: parent }: LateIptablesParts): {
  stop(): Promise<void>;
} {
  const ending = new AbortController();
  const { signal } = ending;
  const log = moduleLogger(parent, "iptables");
  const run = async (): Promise<void> => {
    await clock.sleep(AFTER_START_MS, signal);
    const { keepIptablesChains } = await import("../network/iptables-chains.js");
    await Promise.all([
      keepIptablesChains({ program: "iptables", firewall: true, clock, log }, signal),
      keepIptablesChains({ program: "ip6tables", firewall: false, clock, log }, signal),
    ]);
  };
  const running = makeIPTablesUtilChains
    ? run().catch((error: unknown) => {
        if (!signal.aborted) log.warn({ err: error }, `cannot keep the chains in iptables: ${messageOf(error)}`);
      })
    : Promise.resolve();
  return {
    async stop() {
      ending.abort(new Error("the kubelet is stopping"));
      await running;
    },
  };
}
