// The iptables chains of the node, kept from shortly after the start, when the first pods are starting.

import type { Clock } from "../../shared/base/clock/clock.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import { Deferred } from "../../shared/base/turns/deferred.js";
import { moduleLogger, type Logger } from "../../shared/telemetry/log/logger.js";

const IPTABLES_DELAY_MS = 5000;

export interface IptablesDeps {
  clock: Clock;
  log: Logger;
}

export function deferredIptables({ clock, log: parent }: IptablesDeps): Deferred<void> {
  const log = moduleLogger(parent, "iptables");
  return new Deferred({
    name: "the chains in iptables",
    when: {
      ms: IPTABLES_DELAY_MS,
      clock,
      failed: (error) => log.warn({ err: error }, `cannot maintain the chains in iptables: ${messageOf(error)}`),
    },
    async load(signal) {
      const { keepIptablesChains } = await import("../containers/network/iptables-chains.js");
      await Promise.all([
        keepIptablesChains({ program: "iptables", firewall: true, clock, log }, signal),
        keepIptablesChains({ program: "ip6tables", firewall: false, clock, log }, signal),
      ]);
    },
  });
}
