// Looks up host names of pods' probes and hooks as upstream's resolver does. /etc/hosts comes first, then the name
// servers of /etc/resolv.conf with its search domains. Invariant: no look-up takes a thread of libuv's pool, as
// getaddrinfo does, which can't be cancelled. Every look-up ends with its caller's signal. Addresses and "localhost"
// need none. A bounded number is under way; others wait.

import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { abortReason } from "../../base/errors/thrown.js";
import { FairTurns } from "../../base/turns/fair-turns.js";
import { readRegularText } from "../fs/regular-file.js";
import { HostsSearch, type HostsFile } from "./hosts-search.js";

/** No address; Go's error text, which readers of events recognise. */
export class LookupError extends Error {
  override readonly name = "LookupError";
  constructor(
    readonly host: string,
    problem = "no such host",
  ) {
    super(`lookup ${host}: ${problem}`);
  }
}

/** Look-ups that hang keep a socket each. */
export const CAP = 64;
export const CAP_PER_NAME = 16;
const ATTEMPT_MS = 5000;
const TRIES = 2;
const LONGEST_NAME = 253;
/** Bytes of /etc/resolv.conf that count: upstream's limit for the file that pods get. */
export const RESOLV_CONF_LIMIT = 10 * 1024 * 1024;

interface ResolvConf {
  search: string[];
  ndots: number;
}

/** Linear; lines that are not known are left out. @internal */
export function parseResolvConf(text: string): ResolvConf {
  const conf: ResolvConf = { search: [], ndots: 1 };
  for (const line of text.slice(0, RESOLV_CONF_LIMIT).split("\n")) {
    const [word, ...rest] = line.split(/[ \t]/).filter((part) => part !== "");
    if (word === "search" || word === "domain") conf.search = rest;
    if (word !== "options") continue;
    for (const option of rest) if (option.startsWith("ndots:")) conf.ndots = ndotsOf(option.slice("ndots:".length));
  }
  return conf;
}

function ndotsOf(text: string): number {
  const value = Number(text);
  return Number.isInteger(value) && value >= 0 ? Math.min(value, 15) : 1;
}

/** Names to try, in order. A name that ends with a dot is complete. @internal */
export function candidates(host: string, { search, ndots }: ResolvConf): string[] {
  if (host.endsWith(".")) return [host.slice(0, -1)];
  const dots = host.split(".").length - 1;
  const searched = search.map((domain) => `${host}.${domain.endsWith(".") ? domain.slice(0, -1) : domain}`);
  return dots >= ndots ? [host, ...searched] : [...searched, host];
}

type Query = (name: string, signal: AbortSignal) => Promise<string[]>;

export interface LookupDeps {
  /** /etc/hosts */
  hosts?: HostsFile;
  /** "/etc/resolv.conf" */
  resolvConf?: () => Promise<string>;
  /** Asks the name servers; an empty list where they know no address. */
  query?: Query;
}

export class PodLookups {
  /** A name server that does not answer holds up the names that need it, and leaves turns to others. */
  private readonly turns = new FairTurns({ limit: CAP, share: CAP_PER_NAME });
  private readonly hosts: HostsFile;

  constructor(private readonly deps: LookupDeps = {}) {
    this.hosts = deps.hosts ?? new HostsSearch("/etc/hosts");
  }

  /** For `net.connect` and `http.request`. */
  within(signal: AbortSignal): LookupFunction {
    return (host, { all }, callback) => {
      this.addresses(host, signal).then(
        (addresses) => {
          const found = addresses.map((address) => ({ address, family: isIP(address) }));
          const [first = { address: "", family: 4 }] = found;
          if (all === true) callback(null, found);
          else callback(null, first.address, first.family);
        },
        (error: unknown) => callback(error instanceof Error ? error : new LookupError(host), []),
      );
    };
  }

  /** One at least. Rejects with LookupError, or the signal's reason. */
  async addresses(host: string, signal: AbortSignal): Promise<string[]> {
    if (isIP(host) !== 0) return [host];
    signal.throwIfAborted();
    const name = host.endsWith(".") ? host.slice(0, -1) : host;
    if (name === "" || name.length > LONGEST_NAME) throw new LookupError(host);
    const known = await this.hosts.addressesOf(name.toLowerCase());
    if (known.length > 0) return known;
    // As in RFC 6761: never sent to a name server.
    if (name.toLowerCase() === "localhost" || name.toLowerCase().endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const turn = await this.turns.acquire({ owner: name.toLowerCase(), signal });
    try {
      return await this.ask(host, signal);
    } finally {
      turn.release();
    }
  }

  private async ask(host: string, signal: AbortSignal): Promise<string[]> {
    const conf = parseResolvConf(await (this.deps.resolvConf ?? textOf("/etc/resolv.conf"))());
    for (const name of candidates(host, conf)) {
      signal.throwIfAborted();
      const found = await (this.deps.query ?? queryServers)(name, signal);
      if (found.length > 0) return found;
    }
    throw new LookupError(host);
  }
}

/** A separate resolver for each lookup, so that one can be cancelled: c-ares, no thread. IPv4 is preferred. */
async function queryServers(name: string, signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver({ timeout: ATTEMPT_MS, tries: TRIES });
  const cancel = (): void => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    if (signal.aborted) throw abortReason(signal);
    return [v4, v6].flatMap((found) => (found.status === "fulfilled" ? found.value : []));
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

const textOf = (path: string) => (): Promise<string> => readRegularText(path, RESOLV_CONF_LIMIT).catch(() => "");
