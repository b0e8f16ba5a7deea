// A trace collector: a gRPC server that takes OTLP, and what it was sent. Messages are read by the field numbers of
// opentelemetry/proto/trace/v1/trace.proto.

import { BinaryReader } from "@bufbuild/protobuf/wire";
import { Server, ServerCredentials, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";

export interface SeenSpan {
  traceId: string;
  spanId: string;
  /** "" for the first of a trace. */
  parentId: string;
  name: string;
  /** SPAN_KIND_*: 1 internal, 2 server, 3 client. */
  kind: number;
  startNanos: bigint;
  endNanos: bigint;
  attributes: Record<string, string | number | boolean>;
  /** STATUS_CODE_*: 0 unset, 2 error. */
  status: { code: number; message: string };
  links: { traceId: string; spanId: string }[];
  /** Attributes of the resource. */
  resource: Record<string, string | number | boolean>;
  scope: string;
}

type Fields = Map<number, (Uint8Array | bigint | number)[]>;

const EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const bytes = (buffer: Buffer): Buffer => buffer;

export class OtlpCollector {
  readonly spans: SeenSpan[] = [];
  readonly #server = new Server();
  #hangs = false;

  private constructor() {
    const methods = {
      export: {
        path: EXPORT,
        requestStream: false as const,
        responseStream: false as const,
        requestSerialize: bytes,
        requestDeserialize: bytes,
        responseSerialize: bytes,
        responseDeserialize: bytes,
      },
    };
    this.#server.addService(methods, {
      export: (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) => {
        this.spans.push(...spansOf(call.request));
        if (!this.#hangs) reply(null, Buffer.alloc(0));
      },
    });
  }

  /** @param address "127.0.0.1:0" or "unix:///path"; the target is then in the result */
  static async start(address = "127.0.0.1:0"): Promise<{ collector: OtlpCollector; target: string }> {
    const collector = new OtlpCollector();
    const port = await new Promise<number>((resolve, reject) => {
      collector.#server.bindAsync(address, ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    return { collector, target: address.startsWith("unix:") ? address : address.replace(/:0$/, `:${port}`) };
  }

  /** From now on it takes batches and answers none. */
  hang(): void {
    this.#hangs = true;
  }

  named(name: string): SeenSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  stop(): void {
    this.#server.forceShutdown();
  }
}

function spansOf(request: Uint8Array): SeenSpan[] {
  return messages(request, 1).flatMap((resourceSpans) => {
    const resource = messages(resourceSpans, 1).flatMap((found) => messages(found, 1));
    return messages(resourceSpans, 2).flatMap((scopeSpans) => {
      const [scope] = messages(scopeSpans, 1);
      const about = { resource: attributesOf(resource), scope: scope === undefined ? "" : text(fieldsOf(scope), 1) };
      return messages(scopeSpans, 2).map((span) => ({ ...spanOf(span), ...about }));
    });
  });
}

function spanOf(message: Uint8Array): Omit<SeenSpan, "resource" | "scope"> {
  const fields = fieldsOf(message);
  const [status = new Uint8Array()] = messages(message, 15);
  return {
    traceId: hex(fields, 1),
    spanId: hex(fields, 2),
    parentId: hex(fields, 4),
    name: text(fields, 5),
    kind: Number(fields.get(6)?.[0] ?? 0),
    startNanos: numberOf(fields, 7),
    endNanos: numberOf(fields, 8),
    attributes: attributesOf(messages(message, 9)),
    status: { code: Number(numberOf(fieldsOf(status), 3)), message: text(fieldsOf(status), 2) },
    links: messages(message, 13).map((link) => ({ traceId: hex(fieldsOf(link), 1), spanId: hex(fieldsOf(link), 2) })),
  };
}

function attributesOf(pairs: readonly Uint8Array[]): SeenSpan["attributes"] {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [value = new Uint8Array()] = messages(pair, 2);
      return [text(fieldsOf(pair), 1), valueOf(fieldsOf(value))];
    }),
  );
}

function valueOf(fields: Fields): string | number | boolean {
  if (fields.has(2)) return numberOf(fields, 2) !== 0n;
  return fields.has(3) ? Number(numberOf(fields, 3)) : text(fields, 1);
}

function messages(message: Uint8Array, field: number): Uint8Array[] {
  return (fieldsOf(message).get(field) ?? []).filter((value) => value instanceof Uint8Array);
}

function numberOf(fields: Fields, field: number): bigint {
  const [value = 0n] = fields.get(field) ?? [];
  return value instanceof Uint8Array ? 0n : BigInt(value);
}

function text(fields: Fields, field: number): string {
  const [value] = fields.get(field) ?? [];
  return value instanceof Uint8Array ? Buffer.from(value).toString("utf8") : "";
}

function hex(fields: Fields, field: number): string {
  const [value] = fields.get(field) ?? [];
  return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : "";
}

/** Every field by its number, undecoded. */
function fieldsOf(message: Uint8Array): Fields {
  const fields: Fields = new Map();
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    const value = read(reader, type);
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

function read(reader: BinaryReader, type: number): Uint8Array | bigint | number {
  switch (type) {
    case 0:
      return BigInt(reader.uint64());
    case 1:
      return BigInt(reader.fixed64());
    case 2:
      return reader.bytes();
    default:
      return reader.fixed32();
  }
}
