// httpGet probes: one GET, redirects followed on the same host only, status 200 to 399 is success.
import type { ProbeAction } from "../../shared/contracts/prober.js";
import { addressOf } from "../../shared/net/dial.js";
import { failure, success, type RunContext, type RunResult } from "../../shared/probes/run.js";
import { OverBudgetError } from "./accounts.js";
import { exchange, ExchangeError, urlOf, type Reply, type Target } from "./exchange.js";
import type { Guard } from "./guarded-stream.js";

type HttpAction = Extract<ProbeAction, { type: "http" }>;
type Header = { name: string; value: string };

const MAX_REDIRECTS = 10;

interface Hop extends Target {
  /** Value of the Host header. */
  hostHeader: string;
}

export async function probeHttp(
  action: HttpAction,
  { deadline, userAgent }: RunContext,
  peers: Guard,
): Promise<RunResult> {
  const headers = headersOf(action, userAgent);
  const common = { signal: deadline.signal, expired: () => deadline.expired, peers };
  let target = firstTarget(action);
  try {
    for (let hops = 1; ; hops++) {
      const host = { name: "Host", value: target.hostHeader };
      const reply = await exchange({ ...common, target, headers: [host, ...headers] });
      const next = nextTarget(reply, target);
      if (next === undefined || next.host !== action.host) return verdictOf(reply);
      if (hops >= MAX_REDIRECTS) throw new ExchangeError(`stopped after ${MAX_REDIRECTS} redirects`);
      target = next;
    }
  } catch (error) {
    if (error instanceof OverBudgetError) return failure(`probe not run: ${error.message}`);
    if (error instanceof ExchangeError) return failure(`Get "${urlOf(target)}": ${error.message}`);
    throw error;
  }
}

function verdictOf({ status, body }: Reply): RunResult {
  if (status < 200 || status >= 400) return failure(`HTTP probe failed with statuscode: ${status}`);
  if (status < 300) return success(body);
  return { outcome: "warning", output: `Probe terminated redirects, Response body: ${body}` };
}

/** Headers in the order of sending, without Host. The probe's own come first, then the standard ones that it does not set. */
function headersOf({ headers }: HttpAction, userAgent: string): Header[] {
  const given = headers.filter(({ name }) => name.toLowerCase() !== "host");
  const standard = [
    { name: "User-Agent", value: userAgent },
    { name: "Accept", value: "*/*" },
  ];
  const named = (name: string): boolean => given.some((header) => header.name.toLowerCase() === name.toLowerCase());
  const all = [...given, ...standard.filter(({ name }) => !named(name))];
  // Given but empty: not sent at all.
  return all.filter(({ name, value }) => value !== "" || !/^(accept|user-agent)$/i.test(name));
}

function firstTarget({ scheme, host, port, path, headers }: HttpAction): Hop {
  const own = headers.find(({ name, value }) => name.toLowerCase() === "host" && value !== "");
  const target = { scheme, host, port, path: requestPath(path) };
  return { ...target, hostHeader: own?.value ?? hostHeaderOf(target) };
}

/** Path and query as the pod has them; characters that no request line may hold are escaped. */
function requestPath(path: string): string {
  const [whole = ""] = path.split("#");
  const escaped = whole.replace(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(Buffer.from(text).toString()));
  return escaped.startsWith("/") ? escaped : `/${escaped}`;
}

function hostHeaderOf({ scheme, host, port }: Pick<Target, "scheme" | "host" | "port">): string {
  const standard = scheme === "https" ? 443 : 80;
  const address = addressOf(host, port);
  return port === standard ? address.slice(0, address.lastIndexOf(":")) : address;
}

/** The target of a redirect; undefined if the reply is not a redirect. */
function nextTarget({ status, location }: Reply, from: Hop): Hop | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined || location === "") return undefined;
  if (!URL.canParse(location, urlOf(from))) throw new ExchangeError(`failed to parse Location header "${location}"`);
  const { protocol, hostname, port, pathname, search } = new URL(location, urlOf(from));
  if (protocol !== "http:" && protocol !== "https:") {
    throw new ExchangeError(`unsupported protocol scheme "${protocol.slice(0, -1)}"`);
  }
  const scheme = protocol === "https:" ? "https" : "http";
  const host = hostname.replace(/^\[|\]$/g, "");
  const next = { scheme, host, port: port === "" ? (scheme === "https" ? 443 : 80) : Number(port) } as const;
  // A relative location stays with the host that was named.
  const relative = !/^([a-z][a-z0-9+.-]*:)?\/\//i.test(location);
  return { ...next, path: pathname + search, hostHeader: relative ? from.hostHeader : hostHeaderOf(next) };
}
