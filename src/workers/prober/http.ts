// httpGet probes: one GET, redirects followed on the same host only, status 200 to 399 is success.
// Invariant: every hop has its own connection, without proxy, keep-alive, compression or certificate check. The connection ends with a
// reset.
import { request, type IncomingMessage } from "node:http";
import { connect as connectTls } from "node:tls";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { OUTPUT_LIMIT_BYTES, type ProbeAction } from "../../shared/contracts/prober.js";
import { addressOf, dial, isDialError, reset, systemReason } from "./dial.js";
import { boundedText, failure, success, type RunContext, type RunResult } from "./run.js";

type HttpAction = Extract<ProbeAction, { type: "http" }>;

const MAX_REDIRECTS = 10;
const MAX_HEADER_BYTES = 1 << 20;
/**
 * Limit of informational responses (1xx) before the final one; a server that sends more is at fault. As in Go's client.
 */
const MAX_INFORMATIONAL = 5;

/** One hop. */
interface Target {
  scheme: "http" | "https";
  host: string;
  port: number;
  /** Begins with "/". */
  path: string;
  /** Value of the Host header. */
  hostHeader: string;
}

interface Reply {
  status: number;
  location: string | undefined;
  body: string;
}

/** A request without a reply, with the error text of upstream's client. */
class ExchangeError extends Error {
  override readonly name = "ExchangeError";
}

export async function probeHttp(action: HttpAction, context: RunContext): Promise<RunResult> {
  const headers = headersOf(action, context.userAgent);
  let target = firstTarget(action);
  try {
    for (let hops = 1; ; hops++) {
      const reply = await exchange(target, headers, context);
      const next = nextTarget(reply, target);
      if (next === undefined || next.host !== action.host) return verdictOf(reply);
      if (hops >= MAX_REDIRECTS) throw new ExchangeError(`stopped after ${MAX_REDIRECTS} redirects`);
      target = next;
    }
  } catch (error) {
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
function headersOf({ headers }: HttpAction, userAgent: string): { name: string; value: string }[] {
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

function firstTarget({ scheme, host, port, path, headers }: HttpAction): Target {
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

function urlOf({ scheme, host, port, path }: Target): string {
  return `${scheme}://${addressOf(host, port)}${path}`;
}

/** The target of a redirect; undefined if the reply is not a redirect. */
function nextTarget({ status, location }: Reply, from: Target): Target | undefined {
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

async function exchange(
  target: Target,
  headers: readonly { name: string; value: string }[],
  { deadline }: RunContext,
): Promise<Reply> {
  let connection;
  try {
    connection = await dial(target.host, target.port, deadline.signal);
  } catch (error) {
    if (!isDialError(error)) throw error;
    throw new ExchangeError(deadline.expired ? `${error.message} ${TIMED_OUT_AT_HEADERS}` : error.message);
  }
  const raw = connection;
  const stream = target.scheme === "https" ? secure(raw, target.host) : raw;
  try {
    return await get(stream, () => reset(raw), target, headers, deadline.signal);
  } finally {
    reset(raw);
    stream.destroy();
  }
}

function secure(socket: Socket, host: string): Duplex {
  const name = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ socket, rejectUnauthorized: false, ...name });
}

const TIMED_OUT_AT_HEADERS = "(Client.Timeout exceeded while awaiting headers)";
const TIMED_OUT_IN_BODY = "(Client.Timeout or context cancellation while reading body)";

/** `end` resets the connection: called when the last byte that matters is here, before Node closes it the slow way. */
function get(
  stream: Duplex,
  end: () => void,
  target: Target,
  headers: readonly { name: string; value: string }[],
  signal: AbortSignal,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    const fail = (text: string): void => {
      signal.removeEventListener("abort", onAbort);
      reject(new ExchangeError(text));
    };
    const onAbort = (): void =>
      fail(`context deadline exceeded ${response === undefined ? TIMED_OUT_AT_HEADERS : TIMED_OUT_IN_BODY}`);
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    const sent = request({
      createConnection: () => stream,
      method: "GET",
      path: target.path,
      setHost: false,
      headers: [
        ["Host", target.hostHeader],
        ...headers.map(({ name, value }) => [name, value]),
        ["Connection", "close"],
      ].flat(),
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    let informational = 0;
    sent.on("information", () => {
      informational++;
      if (informational <= MAX_INFORMATIONAL) return;
      fail("net/http: HTTP/1.x transport connection broken: net/http: too many 1xx informational responses");
      end();
    });
    // Status 101 is a response, too; without a listener Node closes the connection and emits no error.
    sent.on("upgrade", ({ statusCode = 101 }, socket) => {
      end();
      socket.destroy();
      signal.removeEventListener("abort", onAbort);
      resolve({ status: statusCode, location: undefined, body: "" });
    });
    sent.on("error", (error) => fail(systemReason(error)));
    sent.on("response", (incoming) => {
      response = incoming;
      const chunks: Buffer[] = [];
      let size = 0;
      const done = (): void => {
        end();
        signal.removeEventListener("abort", onAbort);
        const { statusCode = 0, headers: got } = incoming;
        resolve({ status: statusCode, location: got.location, body: boundedText(...chunks) });
      };
      incoming.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size >= OUTPUT_LIMIT_BYTES) done();
      });
      incoming.prependListener("end", done);
      incoming.on("error", (error) => fail(systemReason(error)));
    });
    sent.end();
  });
}
