// grpc probes: one Check of grpc.health.v1.Health over plain HTTP/2 (without grpc-js, see docs/adr/0015).
// Invariant: what the session reads of the server is bounded in bytes, frames and processor time.

import type { ClientHttp2Session, IncomingHttpHeaders, IncomingHttpStatusHeader } from "node:http2";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Clock } from "../../shared/base/clock/clock.js";
import { goDuration } from "../../shared/base/clock/go-duration.js";
import { OUTPUT_LIMIT_BYTES, type ProbeAction } from "../../shared/contracts/prober.js";
import { addressOf, systemReason } from "../../shared/io/net/dial.js";
import { failure, success, type RunContext, type RunResult } from "../../shared/node/probes/run.js";
import { OverBudgetError } from "./accounts.js";
import { connectGrpc } from "./grpc-connection.js";
import type { Guard } from "./guarded-source.js";
import type { GuardedStream } from "./guarded-stream.js";

const STATUSES = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
const SERVING = 1;
const OK = 0;
const DEADLINE_EXCEEDED = 4;
const UNIMPLEMENTED = 12;
/** Limit of informational responses (1xx) before the final one, as for HTTP/1. */
const MAX_INFORMATIONAL = 5;
/** Compression flag and length. */
const PREFIX_BYTES = 5;

type Headers = IncomingHttpHeaders & IncomingHttpStatusHeader;

interface Reply {
  /** gRPC status number. */
  code: number;
  message: string;
  body: Buffer;
}

export async function probeGrpc(
  { host, port, service }: Extract<ProbeAction, { type: "grpc" }>,
  { deadline, userAgent }: RunContext,
  guard: Guard,
  clock: Pick<Clock, "after">,
): Promise<RunResult> {
  try {
    guard.run.check();
  } catch (error) {
    if (!(error instanceof OverBudgetError)) throw error;
    return failure(`probe not run: ${error.message}`);
  }
  const address = addressOf(host, port);
  const within = goDuration(deadline.timeoutMs);
  const ready = { now: false };
  try {
    using connection = await connectGrpc(host, port, { guard, clock, signal: deadline.signal });
    ready.now = true;
    const { session, stream } = connection;
    return resultOf(await check(session, stream, service, userAgent, deadline.timeoutMs, deadline.signal), within);
  } catch (error) {
    if (deadline.expired) {
      return failure(
        ready.now
          ? `timeout: health rpc did not complete within ${within}`
          : `timeout: failed to connect service "${address}" within ${within}: context deadline exceeded`,
      );
    }
    const reason = error instanceof Error ? systemReason(error) : String(error);
    return failure(`error: health rpc probe failed: ${reason}`);
  }
}

function resultOf({ code, message, body }: Reply, within: string): RunResult {
  switch (code) {
    case OK: {
      const status = servingStatus(body);
      if (status === SERVING) return success("service healthy");
      return failure(`service unhealthy (responded with "${STATUSES[status] ?? status}")`);
    }
    case UNIMPLEMENTED:
      return failure(
        `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`,
      );
    case DEADLINE_EXCEEDED:
      return failure(`timeout: health rpc did not complete within ${within}`);
    default:
      return failure(`error: health rpc probe failed: ${message}`);
  }
}

/** HealthCheckResponse.status, field 1. */
function servingStatus(body: Buffer): number {
  const reader = new BinaryReader(body.subarray(PREFIX_BYTES));
  let status = 0;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) status = reader.int32();
    else reader.skip(type);
  }
  return status;
}

/** HealthCheckRequest, service in field 1, in gRPC's frame. */
function requestFrame(service: string): Buffer {
  const message =
    service === "" ? new Uint8Array() : new BinaryWriter().tag(1, WireType.LengthDelimited).string(service).finish();
  const frame = Buffer.alloc(PREFIX_BYTES + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, PREFIX_BYTES);
  return frame;
}

function check(
  session: ClientHttp2Session,
  stream: GuardedStream,
  service: string,
  userAgent: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => fail(signal.reason instanceof Error ? signal.reason : new Error("called off"));
    const fail = (error: Error): void => {
      signal.removeEventListener("abort", onAbort);
      reject(error);
    };
    if (signal.aborted) {
      onAbort();
      return;
    }
    signal.addEventListener("abort", onAbort, { once: true });
    session.on("error", fail);
    // A session whose connection ends does not have the reason.
    stream.on("error", fail);
    const call = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Check",
      "content-type": "application/grpc",
      te: "trailers",
      "user-agent": userAgent,
      "grpc-timeout": `${timeoutMs}m`,
    });
    let head: Headers = {};
    let trailers: Headers = {};
    const chunks: Buffer[] = [];
    let size = 0;
    call.on("error", fail);
    call.on("response", (headers: Headers) => {
      head = headers;
    });
    let informational = 0;
    call.on("headers", () => {
      informational++;
      if (informational > MAX_INFORMATIONAL) fail(new Error("too many 1xx informational responses"));
    });
    call.on("trailers", (headers: Headers) => {
      trailers = headers;
    });
    call.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > OUTPUT_LIMIT_BYTES) fail(new Error(`the reply is longer than ${OUTPUT_LIMIT_BYTES} bytes`));
      else chunks.push(chunk);
    });
    call.on("end", () => {
      signal.removeEventListener("abort", onAbort);
      // A reply without a body has its status among the headers.
      const said = trailers["grpc-status"] === undefined ? head : trailers;
      const code = said["grpc-status"];
      if (code === undefined) {
        const status = head[":status"];
        const what =
          status === undefined ? "connection closed without a response" : `unexpected HTTP status code ${status}`;
        fail(new Error(what));
        return;
      }
      resolve({ code: Number(code), message: decodeMessage(said["grpc-message"]), body: Buffer.concat(chunks) });
    });
    call.end(requestFrame(service));
  });
}

/** grpc-message is percent-encoded. */
function decodeMessage(text: string | string[] | undefined): string {
  const whole = String(text ?? "");
  try {
    return decodeURIComponent(whole);
  } catch {
    return whole;
  }
}
