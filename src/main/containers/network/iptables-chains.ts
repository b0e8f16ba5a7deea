// The iptables chains that other programs expect of a kubelet (makeIPTablesUtilChains, docs/adr/0048), for one IP
// version. KUBE-IPTABLES-HINT shows which iptables the system uses. KUBE-FIREWALL drops packets from elsewhere to
// 127.0.0.0/8. If KUBE-KUBELET-CANARY is missing, another program flushed the rules, and the kubelet restores them.
// Invariant: no pod waits for a chain, and no failure of iptables ends more than one round; one cause is logged once.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { ProgramFailedError } from "../../../shared/io/exec/program-errors.js";
import { runProgram } from "../../../shared/io/exec/run-program.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";

const HINT = "KUBE-IPTABLES-HINT";
const FIREWALL = "KUBE-FIREWALL";
const CANARY = "KUBE-KUBELET-CANARY";

/** In the order in which other programs flush them. */
const CANARY_TABLES = ["mangle", "nat", "filter"] as const;
type Table = (typeof CANARY_TABLES)[number];

/** Seconds to wait for the lock that all iptables programs share. */
const LOCK_WAIT = "5";
const CHECK_EVERY_MS = 60_000;
/** A flush takes table after table: the chains are restored when it has finished, or after this time. */
const FLUSH_POLL_MS = 500;
const FLUSH_POLLS = 10;

/** As kube-proxy writes it, so that both programs keep one rule. */
const MARTIANS =
  "-m comment --comment|block incoming localnet connections|--dst 127.0.0.0/8 ! --src 127.0.0.0/8 " +
  "-m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP";
const MARTIAN_RULE = MARTIANS.split("|").flatMap((part, index) => (index === 1 ? [part] : part.trim().split(" ")));

export interface IptablesOptions {
  /** "iptables" or "ip6tables", or the path of one. */
  program: string;
  /** Only IPv4 has the firewall: the kernel never routes packets to ::1. */
  firewall: boolean;
  clock: Clock;
  log: Logger;
}

/** Makes the chains and keeps them until the signal. Never rejects. */
export async function keepIptablesChains(options: IptablesOptions, signal: AbortSignal): Promise<void> {
  const { program, clock, log } = options;
  let said = "";
  const pause = (ms: number): Promise<void> => clock.sleep(ms, signal).catch(() => undefined);
  const over = (): boolean => signal.aborted;
  while (!over()) {
    try {
      await ensureChains(options, signal);
      log.info({ program }, said === "flushed" ? "restored the chains in iptables" : "created the chains in iptables");
      await flushed(options, signal, pause);
      if (over()) return;
      said = "flushed";
      log.info({ program }, "another program flushed iptables; restoring the kubelet's chains");
    } catch (error) {
      if (over()) return;
      if (error instanceof ProgramFailedError && error.failure === "missing") {
        log.warn(
          { program },
          `${program} is not installed: the kubelet does not create ${HINT} for programs that look for it`,
        );
        return;
      }
      const text = errorText(error);
      if (text !== said) log.warn({ program, err: error }, `${program} ${text}: the chain ${HINT} may be missing`);
      said = text;
      await pause(CHECK_EVERY_MS);
    }
  }
}

async function ensureChains(options: IptablesOptions, signal: AbortSignal): Promise<void> {
  await ensureChain(options, "mangle", HINT, signal);
  if (options.firewall) {
    await ensureChain(options, "filter", FIREWALL, signal);
    await ensureRule(options, "-I", "OUTPUT", ["-j", FIREWALL], signal);
    await ensureRule(options, "-I", "INPUT", ["-j", FIREWALL], signal);
    await ensureRule(options, "-A", FIREWALL, MARTIAN_RULE, signal);
  }
  for (const table of CANARY_TABLES) await ensureChain(options, table, CANARY, signal);
}

/** Returns when the canaries have disappeared. A failed check proves nothing. */
async function flushed(
  options: IptablesOptions,
  signal: AbortSignal,
  pause: (ms: number) => Promise<void>,
): Promise<void> {
  const isThere = async (table: Table): Promise<boolean> => {
    try {
      return await chainExists(options, table, CANARY, signal);
    } catch (error) {
      options.log.debug({ err: error, table }, `cannot look for ${CANARY}: ${errorText(error)}`);
      return true;
    }
  };
  do await pause(CHECK_EVERY_MS);
  while (!signal.aborted && (await isThere("mangle")));
  for (let poll = 0; poll < FLUSH_POLLS && !signal.aborted; poll++) {
    if (!(await isThere("nat")) && !(await isThere("filter"))) return;
    await pause(FLUSH_POLL_MS);
  }
}

async function ensureChain(options: IptablesOptions, table: Table, chain: string, signal: AbortSignal): Promise<void> {
  if (await chainExists(options, table, chain, signal)) return;
  try {
    await iptables(options, table, ["-N", chain], signal);
  } catch (error) {
    // Another program may have made it since.
    if (!(await chainExists(options, table, chain, signal))) throw error;
  }
}

function chainExists(options: IptablesOptions, table: Table, chain: string, signal: AbortSignal): Promise<boolean> {
  return holds(iptables(options, table, ["-S", chain], signal));
}

async function ensureRule(
  options: IptablesOptions,
  add: "-I" | "-A",
  chain: string,
  rule: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (await holds(iptables(options, "filter", ["-C", chain, ...rule], signal))) return;
  await iptables(options, "filter", [add, chain, ...rule], signal);
}

/** iptables reports the result of a check by its exit status; others than 0 and 1 are failures. */
async function holds(run: Promise<unknown>): Promise<boolean> {
  try {
    await run;
    return true;
  } catch (error) {
    if (error instanceof ProgramFailedError && error.exitCode === 1) return false;
    throw error;
  }
}

function iptables(
  { program, clock }: IptablesOptions,
  table: Table,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  return runProgram({ command: program, args: ["-w", LOCK_WAIT, "-t", table, ...args], env: [], clock, signal });
}
