// The server's JSON as Kubernetes' protobuf, and back, for clients that ask for it.

import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { PROTOBUF_TYPE } from "../../../src/shared/kubernetes/api/client/call/body.js";
import {
  decodeObject,
  encodeMessage,
  enveloped,
  messageOf,
} from "../../../src/shared/kubernetes/api/protobuf/objects.js";
import { badRequest } from "../../../src/workers/apiserver/objects/errors.js";
import type { ApiRequest } from "./body.js";

/** The client's first choice. */
export function wantsProtobuf(request: ApiRequest): boolean {
  return (request.headers.accept ?? "").split(",")[0]?.split(";")[0]?.trim() === PROTOBUF_TYPE;
}

interface Typed extends Record<string, unknown> {
  apiVersion?: string;
  kind?: string;
}

/** Texts of objects in protobuf, the newest last: an answer and the event of a watch have the same text. */
const recent = new Map<string, Buffer | undefined>();
const MOST_RECENT = 16;

/** undefined for a kind that is served in JSON only. The bytes are shared. */
export function toProtobuf(text: string): Buffer | undefined {
  if (recent.has(text)) return recent.get(text);
  const bytes = encoded(text);
  for (const oldest of recent.keys()) {
    if (recent.size < MOST_RECENT) break;
    recent.delete(oldest);
  }
  recent.set(text, bytes);
  return bytes;
}

function encoded(text: string): Buffer | undefined {
  const { apiVersion = "", kind = "", ...fields } = JSON.parse(text) as Typed;
  const message = messageOf({ apiVersion, kind });
  if (message !== undefined) return enveloped(apiVersion, kind, encodeMessage(message, fields));
  const item = kind.endsWith("List") ? messageOf({ apiVersion, kind: kind.slice(0, -"List".length) }) : undefined;
  if (item === undefined) return undefined;
  const list = new BinaryWriter();
  list.tag(1, WireType.LengthDelimited).bytes(encodeMessage("ListMeta", fields["metadata"] ?? {}));
  for (const object of (fields["items"] ?? []) as Typed[]) {
    list.tag(2, WireType.LengthDelimited).bytes(encodeMessage(item, object));
  }
  return enveloped(apiVersion, kind, list.finish());
}

/** A line of a watch, `{"type":"…","object":…}`, as a frame. */
export function toFrame(line: string): Buffer {
  const [, type = "", object = ""] = /^\{"type":"(\w+)","object":(.*)\}\n$/s.exec(line) ?? [];
  const raw = toProtobuf(object);
  if (raw === undefined) throw new Error(`a watch in protobuf of ${object.slice(0, 100)}`);
  const event = new BinaryWriter();
  event.tag(1, WireType.LengthDelimited).string(type);
  event.tag(2, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).bytes(raw).join();
  const bytes = event.finish();
  const head = Buffer.alloc(4);
  head.writeUInt32BE(bytes.length);
  return Buffer.concat([head, bytes]);
}

export function fromProtobuf(body: Buffer): unknown {
  try {
    return decodeObject(body);
  } catch (error) {
    throw badRequest(
      `the request body is no ${PROTOBUF_TYPE}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
