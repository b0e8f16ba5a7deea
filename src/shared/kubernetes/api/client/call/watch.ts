// A watch, as long as the server keeps it open; in JSON one object per line.

import type { Readable } from "node:stream";
import { faultPoint } from "../../../../base/faults/fault-points.js";
import { quote } from "../../../../base/text/quote.js";
import { digitsBelow, digitsOf, withDigits } from "../../wide-integers.js";
import { eventHeadOfJson } from "../decode/object-head.js";
import type { OnOversized } from "../decode/oversized.js";
import type { Turn } from "../decode/turn.js";
import type { ApiObject, ObjectHead, Restore, WatchEvent, WatchOptions } from "../port.js";
import { BodyError, isStatus, jsonOf, statusError } from "./body.js";
import { LineCutter } from "./line-cutter.js";

export type IsKnown = NonNullable<WatchOptions["isKnown"]>;

/** How events stand in the body of a watch. */
export interface WatchFormat {
  /** Cuts blocks of the body into the bytes of single events. */
  cutter: (onOversized: OnOversized) => { push: (block: Buffer) => Iterable<Buffer> };
  /** May give the loop back while it reads a large event. */
  read: <T extends ApiObject>(
    event: Buffer,
    isKnown: IsKnown | undefined,
    turn: Turn,
  ) => WatchEvent<T> | Promise<WatchEvent<T>>;
  /** The head of an event that was skipped. */
  readHead: (bytes: Buffer) => { type: string; head: ObjectHead } | undefined;
}

export interface WatchReading<T extends ApiObject> {
  turn: Turn;
  isKnown?: IsKnown | undefined;
  onOversized?: OnOversized | undefined;
  restore?: Restore<T> | undefined;
}

interface Line {
  type: string;
  object: ApiObject;
}

const INITIAL_EVENTS_END = "k8s.io/initial-events-end";

/**
 * Ends with the body. Throws ApiError for the server's ERROR events, and BodyError for other texts than watch events.
 */
export async function* watchEvents<T extends ApiObject>(
  body: Readable,
  { cutter, read, readHead }: WatchFormat,
  { turn, isKnown, onOversized, restore }: WatchReading<T>,
): AsyncGenerator<WatchEvent<T>> {
  const skipped: Buffer[] = [];
  const events = cutter((head) => {
    skipped.push(head);
    onOversized?.(head);
  });
  for await (const block of body) {
    for (const bytes of events.push(block as Buffer)) {
      faultPoint("api-watch");
      yield* restoredEvents(skipped, readHead, restore);
      const event = await read<T>(bytes, isKnown, turn);
      // Before it is handled, too: a large object takes long to decode, and as long again to handle.
      if (turn.isOver) await turn.next();
      yield event;
      if (turn.isOver) await turn.next();
    }
    yield* restoredEvents(skipped, readHead, restore);
    if (turn.isOver) await turn.next();
  }
  // A partial event at the end is dropped; the next watch sends the event again.
}

/** Events of objects that were skipped, in their order, as far as their owner knows them. Empties the list. */
function* restoredEvents<T extends ApiObject>(
  skipped: Buffer[],
  read: WatchFormat["readHead"],
  restore: Restore<T> | undefined,
): Generator<WatchEvent<T>> {
  for (const bytes of skipped.splice(0)) {
    const event = restore === undefined ? undefined : read(bytes);
    const object = event === undefined ? undefined : restore?.(event.head);
    if (event !== undefined && object !== undefined) yield eventOf<T>(event.type, object);
  }
}

export const JSON_LINES: WatchFormat = {
  cutter: (onOversized) => new LineCutter(onOversized),
  read: (line, isKnown) => (isKnown && echoOf(line, isKnown)) ?? watchEvent(line),
  readHead: eventHeadOfJson,
};

/**
 * The head of a MODIFIED event as servers written in Go encode it, up to UID and resource version; names have 253 bytes
 * at most.
 */
const CHANGED =
  /^\{"type":"MODIFIED","object":\{"kind":"\w+","apiVersion":"[\w./-]+","metadata":\{"name":"[^"\\]+",(?:"generateName":"[^"\\]+",)?(?:"namespace":"[^"\\]+",)?"uid":"([^"\\]+)","resourceVersion":"(\d+)"/;
const HEAD_BYTES = 1024;

/** undefined: it has to be decoded. */
function echoOf(line: Buffer, isKnown: IsKnown): WatchEvent<never> | undefined {
  const [, uid, resourceVersion] = CHANGED.exec(line.toString("latin1", 0, HEAD_BYTES)) ?? [];
  if (uid === undefined || resourceVersion === undefined || !isKnown(uid, resourceVersion)) return undefined;
  return { type: "BOOKMARK", resourceVersion, initialEventsEnd: false };
}

function watchEvent<T extends ApiObject>(bytes: Buffer): WatchEvent<T> {
  const { type, object } = parsed(bytes);
  return eventOf<T>(type, object);
}

/** Throws ApiError for an ERROR event. */
export function eventOf<T extends ApiObject>(type: string, object: ApiObject): WatchEvent<T> {
  switch (type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type, object: object as T };
    case "BOOKMARK": {
      const { resourceVersion = "", annotations } = object.metadata;
      return { type, resourceVersion, initialEventsEnd: annotations?.[INITIAL_EVENTS_END] === "true" };
    }
    case "ERROR":
      if (isStatus(object)) throw statusError(object, 500);
      throw new BodyError("the watch ended with an ERROR event without a Status");
    default:
      throw new BodyError(`the watch has an event of the unknown type ${quote(type)}`);
  }
}

function parsed(bytes: Buffer): Line {
  const line = jsonOf(bytes, "a line of the watch");
  const { type, object } = (line ?? {}) as Partial<Line>;
  if (typeof type !== "string" || typeof object !== "object") throw new BodyError("the watch has a line without event");
  return { type, object: withDigits(object, digitsBelow(digitsOf(line as object), "object")) };
}
