// Responses and bodies in protobuf. Loaded with the first call of a client whose contentType is protobuf.

import { LoopYield } from "../../../../base/queue/loop-yield.js";
import { headOfEvent, headOfMessage, headOfObject } from "../../protobuf/object-head.js";
import {
  decodeInSteps,
  decodeMessage,
  encodeObject,
  fieldOf,
  messageOf,
  openEnvelope,
  versionOf,
} from "../../protobuf/objects.js";
import { ProtobufDecodeError } from "../../protobuf/reader.js";
import type { WireResponse } from "../connection/wire.js";
import { FrameCutter } from "../decode/frames.js";
import { checkedHead } from "../decode/object-head.js";
import type { OnOversized } from "../decode/oversized.js";
import { ProtobufListCutter } from "../decode/protobuf-list-cutter.js";
import type { Turn } from "../decode/turn.js";
import type { ApiList, ApiObject, ObjectHead, ResourceKind, Restore, WatchEvent } from "../port.js";
import { BodyError, bodyOf, readAll } from "./body.js";
import { addRestored, LIST_LIMIT } from "./list.js";
import { apiVersionOf } from "./paths.js";
import { eventOf, type IsKnown, type WatchFormat } from "./watch.js";

/** Whether objects of this kind travel in protobuf. */
export function hasMessage(kind: ResourceKind<ApiObject>): boolean {
  return messageOf(typeOf(kind)) !== undefined;
}

/** undefined: JSON carries it. */
export function bodyInProtobuf(body: unknown): Buffer | undefined {
  return typeof body === "object" && body !== null ? encodeObject({ ...body }) : undefined;
}

/** Rejects with BodyError when the body is no object: it may have been cut. */
export async function readObject(response: WireResponse): Promise<unknown> {
  const bytes = await readAll(response);
  return inSteps(`the response (status ${response.status})`, decodeInSteps(bytes), eachRound());
}

/** The head of a response over the limit of size. */
export function responseHead(bytes: Buffer): ObjectHead | undefined {
  return checkedHead(decoded("the response", () => headOfObject(bytes)));
}

/** As readList. */
export async function readProtobufList<T extends ApiObject>(
  response: WireResponse,
  kind: ResourceKind<T>,
  turn: Turn,
  onOversized?: OnOversized,
  transform: (item: T) => T = (item) => item,
  restore?: Restore<T>,
): Promise<ApiList<T>> {
  const message = messageOf(typeOf(kind)) ?? "";
  const what = `the response (status ${response.status})`;
  const items: T[] = [];
  const cutter = new ProtobufListCutter((head) => {
    onOversized?.(head);
    const fields = decoded("an item of the list", () => headOfMessage(head));
    addRestored(items, checkedHead(fields), restore);
  });
  response.received = 0;
  for await (const block of await bodyOf(response)) {
    response.received += (block as Buffer).length;
    if (response.received > LIST_LIMIT) throw new BodyError(`the list is longer than ${LIST_LIMIT / 1024 / 1024} MiB`);
    for (const item of decodedItems(what, cutter, block as Buffer)) {
      items.push(transform(decoded("an item of the list", () => decodeMessage(message, item)) as unknown as T));
      if (turn.isOver) await turn.next();
    }
    if (turn.isOver) await turn.next();
  }
  const { metadata, kind: found } = decoded(what, () => cutter.rest());
  if (found !== `${kind.kind}List`) throw new BodyError(`${what} is a ${found}, not a ${kind.kind}List`);
  return { metadata: decoded(what, () => decodeMessage("ListMeta", metadata)), items };
}

function* decodedItems(what: string, cutter: ProtobufListCutter, block: Buffer): Generator<Buffer> {
  const items = cutter.push(block);
  for (;;) {
    const next = decoded(what, () => items.next());
    if (next.done === true) return;
    yield next.value;
  }
}

const EVENT = { type: 1, object: 2 } as const;
const RAW = 1;

export const PROTOBUF_FRAMES: WatchFormat = {
  cutter: (onOversized) => new FrameCutter(onOversized),
  read: (frame, isKnown, turn) => inSteps("a frame of the watch", readEvent(frame, isKnown), turn),
  readHead: eventHead,
};

function* readEvent<T extends ApiObject>(frame: Buffer, isKnown: IsKnown | undefined): Generator<void, WatchEvent<T>> {
  const type = fieldOf(frame, EVENT.type)?.toString("utf8") ?? "";
  const object = fieldOf(fieldOf(frame, EVENT.object) ?? Buffer.alloc(0), RAW) ?? Buffer.alloc(0);
  if (isKnown !== undefined && type === "MODIFIED") {
    const { uid, resourceVersion } = versionOf(openEnvelope(object).object);
    if (isKnown(uid, resourceVersion)) return { type: "BOOKMARK", resourceVersion, initialEventsEnd: false };
  }
  return eventOf<T>(type, (yield* decodeInSteps(object)) as unknown as ApiObject);
}

type Rounds = Pick<Turn, "isOver" | "next">;

/** Decodes an object; others have their turns between the steps of a large one. @throws BodyError */
async function inSteps<T>(what: string, steps: Iterator<void, T>, turn: Rounds): Promise<T> {
  for (;;) {
    const step = decoded(what, () => steps.next());
    if (step.done === true) return step.value;
    if (turn.isOver) await turn.next();
  }
}

/** A response has no turn of its own: each step takes a round of the loop. */
function eachRound(): Rounds {
  const loop = new LoopYield();
  return { isOver: true, next: () => new Promise<void>((resolve) => loop.next(resolve)) };
}

/** @throws BodyError */
function eventHead(frame: Buffer): { type: string; head: ObjectHead } | undefined {
  const { type, fields } = decoded("a frame of the watch", () => headOfEvent(frame));
  const head = checkedHead(fields);
  return head === undefined ? undefined : { type, head };
}

/** @throws BodyError */
function decoded<R>(what: string, decode: () => R): R {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof ProtobufDecodeError)) throw error;
    throw new BodyError(`${what} is no whole protobuf: ${error.message}`, { cause: error });
  }
}

function typeOf(kind: ResourceKind<ApiObject>): { apiVersion: string; kind: string } {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind };
}
