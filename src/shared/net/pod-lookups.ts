// Looks up host names of pods' probes and hooks as upstream's resolver does. /etc/hosts comes first, then the name servers of
// /etc/resolv.conf with its search domains. Invariant: no look-up takes a thread of libuv's pool, as getaddrinfo does, which can't be
// cancelled. Every look-up ends with its caller's signal. Addresses and "localhost" need none. A name has a bounded number under way.
import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP, type LookupFunction } from "node:net";
import { abortReason } from "../errors/thrown.js";

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
const CAP = 64;
const CAP_PER_NAME = 16;
const ATTEMPT_MS = 5000;
const TRIES = 2;
const LONGEST_NAME = 253;
/** Bytes read of each file. */
const FILE_LIMIT = 1024 * 1024;

interface ResolvConf {
  search: string[];
  ndots: number;
}

/** Linear; lines that are not known are left out. @internal */
export function parseResolvConf(text: string): ResolvConf {
  const conf: ResolvConf = { search: [], ndots: 1 };
  for (const line of text.slice(0, FILE_LIMIT).split("\n")) {
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

/** The addresses of a name, in the order of the file. @internal */
export function addressesIn(hosts: string, name: string): string[] {
  const wanted = name.toLowerCase();
  return hosts
    .slice(0, FILE_LIMIT)
    .split("\n")
    .flatMap((line) => {
      const [text = ""] = line.split("#", 1);
      const [address = "", ...names] = text.split(/[ \t]/).filter((part) => part !== "");
      return isIP(address) !== 0 && names.some((one) => one.toLowerCase() === wanted) ? [address] : [];
    });
}

type Query = (name: string, signal: AbortSignal) => Promise<string[]>;

export interface LookupDeps {
  /** "/etc/hosts" */
  hosts?: () => Promise<string>;
  /** "/etc/resolv.conf" */
  resolvConf?: () => Promise<string>;
  /** Asks the name servers; an empty list where they know no address. */
  query?: Query;
}

export class PodLookups {
  private underWay = 0;
  private readonly byName = new Map<string, number>();

  constructor(private readonly deps: LookupDeps = {}) {}

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
    const known = addressesIn(await (this.deps.hosts ?? textOf("/etc/hosts"))(), name);
    if (known.length > 0) return known;
    // As in RFC 6761: never sent to a name server.
    if (name.toLowerCase() === "localhost" || name.toLowerCase().endsWith(".localhost")) return ["127.0.0.1", "::1"];
    return this.counted(name, () => this.ask(host, signal));
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

  private async counted<T>(name: string, work: () => Promise<T>): Promise<T> {
    const own = this.byName.get(name) ?? 0;
    if (this.underWay >= CAP || own >= CAP_PER_NAME) throw new LookupError(name, "too many look-ups are under way");
    this.underWay++;
    this.byName.set(name, own + 1);
    try {
      return await work();
    } finally {
      this.underWay--;
      const left = (this.byName.get(name) ?? 1) - 1;
      if (left === 0) this.byName.delete(name);
      else this.byName.set(name, left);
    }
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

const textOf = (path: string) => (): Promise<string> => readFile(path, "utf8").catch(() => "");
