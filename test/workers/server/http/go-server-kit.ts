// The ports against which recorded requests are run: the authenticated port, and a plain one with the read-only port's
// routes. Handlers answer 200 at once.

import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pingCheck } from "../../../../src/workers/server/health/health.js";
import { HealthSlis } from "../../../../src/workers/server/health/slis.js";
import { httpMetrics } from "../../../../src/workers/server/metrics/http-metrics.js";
import type { Scrape } from "../../../../src/workers/server/metrics/scrape.js";
import type { PodList } from "../../../../src/workers/server/pods/pod-list.js";
import { Listener, plainServer } from "../../../../src/workers/server/ports/listener.js";
import { readOnlyHandler, type ReadOnlyRouteDeps } from "../../../../src/workers/server/routes.js";
import { Stats } from "../../../../src/workers/server/stats/index.js";
import { freePort } from "../../../support/free-port.js";
import { silentLog } from "../../../support/silent.js";
import { RecordedPort } from "../ports/authorised-route-kit.js";
import { Certificates } from "../ports/secure-port-kit.js";

/** A text, or one that is repeated; byte strings. */
type Part = string | readonly [text: string, count: number];

export interface Response {
  /** "HTTP/1.1 200 OK" */
  readonly line: string;
  readonly location?: string;
  /** Compared for responses other than 200. */
  readonly body?: string;
}

export interface Result {
  readonly responses: readonly Response[];
  /** The server has left the connection open. */
  readonly open?: boolean;
}

export type RecordedPortName = "readonly" | "secure" | "notls";

export interface Case {
  readonly name: string;
  readonly send: readonly Part[];
  /** The client ends its side after that. */
  readonly half?: boolean;
  /** "any": the read-only and the authenticated port alike. */
  readonly results: Readonly<Partial<Record<RecordedPortName | "any", Result>>>;
}

/** A response that does not come is a difference after this time. */
const PATIENCE_MS = 60_000;

export class GoPorts {
  private constructor(
    private readonly certificates: Certificates,
    private readonly secure: RecordedPort,
    private readonly plain: Listener,
    private readonly port: number,
  ) {}

  static async open(): Promise<GoPorts> {
    const certificates = await Certificates.create();
    const secure = await RecordedPort.open(certificates, "AlwaysAllow", {
      ...{
        connections: 4096,
        unauthorised: 4096,
        unauthorisedPerAddress: 4096,
        authorisedPerUser: 4096,
        unauthorisedMs: Infinity,
        headersMs: 60_000,
      },
      ...{ unauthorisedBatchMs: Infinity, unauthorisedProcessorMs: Infinity },
    });
    const port = await freePort();
    const plain = plainListener(port);
    plain.start();
    await plain.listening();
    return new GoPorts(certificates, secure, plain, port);
  }

  async close(): Promise<void> {
    await Promise.all([this.secure.close(), this.plain.close()]);
    await this.certificates.remove();
  }

  /** @param expected when so many responses are here, an open connection is not awaited any longer */
  ask(name: RecordedPortName, { send, half = false }: Case, expected: Result): Promise<Result> {
    const socket = this.connection(name);
    const bytes = Buffer.concat(send.map(bytesOf));
    const isHead = name !== "notls" && bytes.subarray(0, 5).toString("latin1") === "HEAD ";
    if (half) socket.end(bytes);
    else socket.write(bytes);
    return new Promise((resolve) => {
      let text = "";
      const done = (open: boolean): void => {
        late.cancel();
        socket.destroy();
        const { responses } = parse(text, isHead);
        resolve(open ? { responses, open } : { responses });
      };
      const late = systemClock.after(PATIENCE_MS, () => done(true));
      const look = (): void => {
        if (expected.open !== true) return;
        const { responses, isWhole } = parse(text, isHead);
        if (isWhole && responses.length >= expected.responses.length) done(true);
      };
      socket.on("data", (part: Buffer) => {
        text += part.toString("latin1");
        look();
      });
      // What it has not read may reset the connection after the response.
      socket
        .on("error", () => undefined)
        .once("end", () => done(false))
        .once("close", () => done(false));
      look();
    });
  }

  private connection(name: RecordedPortName): Socket {
    const host = "127.0.0.1";
    const allowHalfOpen = true;
    if (name === "readonly") return connectTcp({ host, port: this.port, allowHalfOpen });
    if (name === "notls") return connectTcp({ host, port: this.secure.port, allowHalfOpen });
    const tcp = connectTcp({ host, port: this.secure.port, allowHalfOpen }).on("error", () => undefined);
    return connectTls({ socket: tcp, host, ca: this.certificates.ca.pair.cert });
  }
}

function plainListener(port: number): Listener {
  const log = silentLog;
  const scrape = { expose: () => Promise.resolve({ body: "", contentType: "text/plain" }) } as unknown as Scrape;
  const slis = new HealthSlis();
  const part = <T>(value: Partial<T>): T => value as T;
  const handler = readOnlyHandler(
    part<ReadOnlyRouteDeps>({
      pods: part<PodList>({
        reply: (response) => {
          response.writeHead(200, { "Content-Length": "0" }).end();
          return Promise.resolve();
        },
      }),
      ...{ scrape, scrapeProbes: scrape, slis, log, checks: slis.observed([pingCheck, ...OTHER_CHECKS]) },
      stats: {
        routes: () =>
          new Stats(part({})).routes().map((route) => ({
            ...route,
            answer: (_request, response) => void response.writeHead(200, { "Content-Length": "0" }).end(),
          })),
      },
      http: httpMetrics(new ThreadRegistry("server"), systemClock, "readonly"),
      // Hosts are not compared, except those that Go refuses.
      ...{ hostNames: [], servesPods: true },
    }),
  );
  return new Listener({
    ...{ name: "plain", address: "127.0.0.1", port, changedBy: "" },
    create: () => plainServer(handler, systemClock, log),
    ...{ clock: systemClock, log },
  });
}

const OTHER_CHECKS = ["log", "syncloop"].map((name) => ({ name, check: () => undefined }));

function bytesOf(part: Part): Buffer {
  return Buffer.from(typeof part === "string" ? part : part[0].repeat(part[1]), "latin1");
}

function parse(text: string, isHead: boolean): { responses: Response[]; isWhole: boolean } {
  const responses: Response[] = [];
  let rest = text;
  let first = isHead;
  while (rest !== "") {
    const end = rest.indexOf("\r\n\r\n");
    if (end < 0) return { responses, isWhole: false };
    const [line = "", ...fields] = rest.slice(0, end).split("\r\n");
    const field = (name: string): string | undefined =>
      fields.find((one) => one.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2);
    const isContinue = line.includes(" 100 ");
    const length = isContinue || first ? 0 : Number(field("content-length") ?? rest.length);
    const body = rest.slice(end + 4, end + 4 + length);
    if (body.length < length && field("content-length") !== undefined) return { responses, isWhole: false };
    rest = rest.slice(end + 4 + length);
    const location = field("location");
    responses.push({
      line,
      ...(location !== undefined && { location }),
      ...(body !== "" && !line.includes(" 200 ") && { body }),
    });
    if (!isContinue) first = false;
  }
  return { responses, isWhole: true };
}
