// An ApiClient whose every list and watch is answered by the test, under a clock that the test steps.

import { NODES } from "../../../../../../src/shared/kubernetes/api/client/kinds.js";
import type {
  ApiClient,
  ApiList,
  ApiObject,
  ListOptions,
  ResourceKind,
  WatchEvent,
  WatchOptions,
} from "../../../../../../src/shared/kubernetes/api/client/port.js";
import { Reflector, type ReflectorOptions } from "../../../../../../src/shared/kubernetes/api/client/reflector.js";
import type { Node } from "../../../../../../src/shared/kubernetes/api/node.js";
import { SteppedClock } from "../../../../../support/stepped-clock.js";
import { keptLog } from "../client-kit.js";

export type Event = WatchEvent<ApiObject>;

export function object(name: string, resourceVersion: string): ApiObject {
  return { metadata: { name, resourceVersion } };
}
export const added = (name: string, version: string): Event => ({ type: "ADDED", object: object(name, version) });
export const modified = (name: string, version: string): Event => ({ type: "MODIFIED", object: object(name, version) });
export const deleted = (name: string, version: string): Event => ({ type: "DELETED", object: object(name, version) });
export const bookmark = (resourceVersion: string, initialEventsEnd = false): Event => ({
  type: "BOOKMARK",
  resourceVersion,
  initialEventsEnd,
});

/** A watch as the test sees it: it sends events, and ends it. */
export class WatchInHand {
  private readonly events: Event[] = [];
  private wake: () => void = () => undefined;
  private over: { error?: Error } | undefined;

  constructor(readonly options: WatchOptions) {
    options.signal.addEventListener("abort", () => this.end(options.signal.reason as Error), { once: true });
    if (options.signal.aborted) this.end(options.signal.reason as Error);
  }
  send(...events: Event[]): this {
    this.events.push(...events);
    this.wake();
    return this;
  }
  end(error?: Error): void {
    this.over ??= error === undefined ? {} : { error };
    this.wake();
  }
  async *read(): AsyncGenerator<Event> {
    for (;;) {
      const next = this.events.shift();
      if (next !== undefined) yield next;
      else if (this.over?.error !== undefined) throw this.over.error;
      else if (this.over !== undefined) return;
      else await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }
}

export class ScriptedApi {
  readonly clock = new SteppedClock();
  readonly watches: WatchInHand[] = [];
  readonly lists: ListOptions[] = [];
  /** "list 0 limit=500", "watch 5", "stream": in their order, with the time in ms. */
  readonly asked: string[] = [];
  /** Results of the next lists, the last one for good. */
  answers: (ApiList<ApiObject> | Error)[] = [];
  /** Immediate events of a watch; none: the test sends them. */
  onWatch: (watch: WatchInHand) => void = () => undefined;
  /** Whether the version asked about is known. */
  affirm: () => Promise<ApiList<ApiObject>> = () => Promise.resolve({ metadata: {}, items: [] });
  readonly events: string[] = [];
  readonly lines: string[];
  readonly reflector: Reflector<Node>;

  constructor(options: Partial<ReflectorOptions<Node>> = {}) {
    const { log, lines } = keptLog();
    this.lines = lines;
    this.reflector = new Reflector<Node>({
      client: this.client(),
      kind: NODES,
      clock: this.clock,
      log,
      random: () => 0,
      onReplace: (objects) => this.events.push(`= ${objects.map(nameOf).join(" ")}`.trim()),
      onEvent: ({ type, object }) => this.events.push(`${type} ${nameOf(object)}`),
      ...options,
    });
  }

  /** The newest watch. */
  get watch(): WatchInHand {
    const last = this.watches.at(-1);
    if (last === undefined) throw new Error("nothing watches");
    return last;
  }

  /** Lets everything settle that can, then moves time. */
  async step(ms: number): Promise<void> {
    await this.settle();
    this.clock.step(ms);
    await this.settle();
  }
  async settle(): Promise<void> {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
  }

  private client(): ApiClient {
    const list = async (_kind: ResourceKind<ApiObject>, options: ListOptions = {}) => {
      this.lists.push(options);
      const { resourceVersion = "-", limit, continue: next } = options;
      if (options.resourceVersionMatch !== undefined) {
        this.ask([options.resourceVersionMatch, `"${resourceVersion}"`, `limit=${limit ?? 0}`]);
        return await this.affirm();
      }
      this.ask(["list", `"${resourceVersion}"`, limit === undefined ? "" : `limit=${limit}`, next ?? ""]);
      const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
      if (answer === undefined || answer instanceof Error) throw answer ?? new Error("no answer was arranged");
      return Promise.resolve(answer);
    };
    const watch = (_kind: ResourceKind<ApiObject>, options: WatchOptions) => {
      const inHand = new WatchInHand(options);
      this.ask([options.sendInitialEvents === true ? "stream" : "watch", `"${options.resourceVersion ?? ""}"`]);
      this.watches.push(inHand);
      this.onWatch(inHand);
      return inHand.read();
    };
    return { list, watch } as unknown as ApiClient;
  }

  private ask(words: string[]): void {
    this.asked.push(`${this.clock.monotonic()} ${words.filter((word) => word !== "").join(" ")}`);
  }
}

const nameOf = ({ metadata }: ApiObject): string => `${metadata.name ?? "?"}@${metadata.resourceVersion ?? "?"}`;
