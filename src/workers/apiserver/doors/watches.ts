// Open watches: their number and what each may hold back are bounded.

import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tooManyRequests } from "../objects/errors.js";
import { jsonText } from "../objects/json.js";
import type { ApiObject, Fields } from "../objects/object.js";
import { eventsInForm, formOf, type EventInForm } from "../printing/forms.js";
import { Watch, type WatchRequest, type WatchSink } from "../verbs/watch.js";
import type { World } from "../world.js";

export const MAX_WATCHES = 512;
/** A client that has not read so many bytes loses its watch. */
export const MAX_BEHIND_BYTES = 4 * 1024 * 1024;
/** What all clients together have not read: beyond it, the one that is furthest behind loses its watch. */
const MAX_ALL_BEHIND_BYTES = 32 * 1024 * 1024;
/** A client that is further behind counts. */
const BEHIND_BYTES = 64 * 1024;

export class Watches {
  readonly #open = new Map<Watch, ServerResponse>();
  /** JSON of the last object: all watches of a change send the same. */
  #last: { object: ApiObject | Fields; text: string } | undefined;

  constructor(private readonly world: World) {}

  get size(): number {
    return this.#open.size;
  }

  async serve(asked: WatchRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#open.size >= MAX_WATCHES) throw tooManyRequests(`${MAX_WATCHES} watches are open`, 1);
    const { store, clock } = this.world;
    const inForm = eventsInForm(formOf(request.headers.accept), asked.resource, asked.query, clock);
    const watch: Watch = new Watch(store, clock, asked, this.#sink(response, inForm), () => this.#open.delete(watch));
    this.#open.set(watch, response);
    response.once("close", () => watch.end());
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" });
    response.flushHeaders();
    await watch.start();
  }

  endAll(): void {
    for (const watch of [...this.#open.keys()]) watch.end();
  }

  #sink(response: ServerResponse, inForm: EventInForm): WatchSink {
    return {
      write: (type, object) => {
        const line = inForm(type, object) ?? `{"type":${JSON.stringify(type)},"object":${this.#textOf(object)}}\n`;
        response.write(line);
        if (!this.#isTooFarBehind(response)) return true;
        response.destroy();
        return false;
      },
      taken: async () => {
        if (response.writableLength <= response.writableHighWaterMark || response.closed) return;
        const over = new AbortController();
        const { signal } = over;
        const events = ["drain", "close"].map((name) => once(response, name, { signal }).catch(() => undefined));
        await Promise.race(events);
        over.abort();
      },
      end: () => response.end(),
    };
  }

  /** @returns whether it is this client that loses its watch */
  #isTooFarBehind(response: ServerResponse): boolean {
    const bytes = response.writableLength;
    if (bytes <= BEHIND_BYTES) return false;
    if (bytes > MAX_BEHIND_BYTES) return true;
    let all = 0;
    let furthest: [Watch, ServerResponse] | undefined;
    for (const one of this.#open) {
      const { writableLength } = one[1];
      all += writableLength;
      if (writableLength > (furthest?.[1].writableLength ?? 0)) furthest = one;
    }
    if (all <= MAX_ALL_BEHIND_BYTES || furthest === undefined) return false;
    const [watch, other] = furthest;
    if (other === response) return true;
    other.destroy();
    watch.end();
    return false;
  }

  #textOf(object: ApiObject | Fields): string {
    if (this.#last?.object !== object) this.#last = { object, text: jsonText(object) };
    return this.#last.text;
  }
}
