// Makes CRI calls: waits for a slot, sends, watches abort and connection, checks the reply, reports the call.
// Invariants: every failure leaves as a CriError; every timer, listener and slot of a call is given back when it ends.
import type { Clock, Timer } from "../clock/clock.js";
import { LONGEST_SECONDS } from "../clock/durations.js";
import { faultPoint } from "../thread/fault-points.js";
import { aboutAttempt, attemptError, type Attempt, subjectOf } from "./attempt.js";
import { headersOf, streamSpan, tracedCall } from "./call-span.js";
import { CriChannel } from "./channel.js";
import { deadlineFor, timeoutSecondsOf, withBoundedTimeout } from "./deadlines.js";
import { CriBadReplyError, criError, type CriCode, type CriError } from "./errors.js";
import type { MessageFns } from "./gen/runtime.v1.js";
import { Limiter } from "./limiter.js";
import type { ReplyCheck } from "./reply-checks.js";
import { Exchange } from "./transport/exchange.js";
import { Incoming } from "./transport/incoming.js";
import type { Link } from "./transport/link.js";
import { CallFailedError } from "./transport/status.js";
import {
  isCriVerb,
  OPERATIONS,
  verbOfPath,
  type CallOptions,
  type CriVerb,
  type MethodDefinition,
  type StreamCall,
  type UnaryCall,
} from "./verbs.js";
import { asError, messageOf } from "../errors/thrown.js";
import type { OpenSpan } from "../tracing/tracing.js";

/** One finished call, for metrics and logs. */
interface CallRecord {
  verb: CriVerb;
  /** operation_type label of kubelet_runtime_operations_total. */
  operation: string;
  /** From sending to the response, milliseconds; for a stream its whole duration. 0 if it was never sent. */
  durationMs: number;
  /** Time before that in the queue for a free slot, milliseconds. */
  queuedMs: number;
  error?: CriError;
}

export interface CriClientOptions {
  /** "unix:///run/containerd/containerd.sock"; a bare absolute path is accepted (parseEndpoint warns). */
  endpoint: string;
  /** Default deadline, milliseconds; see deadlines.ts for the verbs that differ. */
  runtimeRequestTimeoutMs: number;
  onCall?: (record: CallRecord) => void;
  /** Most calls of a verb that begin at once (LONG_CALL_MS); no entry means no limit. Waiting counts against the deadline. */
  concurrency?: Partial<Record<CriVerb, number>>;
  /** Lists come through streams where the runtime has them (gate CRIListStreaming); no by default. */
  listStreaming?: boolean;
  clock: Clock;
}

/**
 * A call that takes longer no longer counts among those of its verb. The limits are there for bursts; without this, sixty-four
 * containers that ignore SIGTERM during a long grace period would keep all others from being stopped.
 */
const LONG_CALL_MS = 2000;

/** Time limit for a connection before the calls that need it fail. */
const CONNECT_TIMEOUT_MS = 5000;

const LONGEST_MS = LONGEST_SECONDS * 1000;

type Headers = Readonly<Record<string, string>>;

/** What one unary call sends. */
interface Call {
  bytes: Uint8Array;
  headers: Headers;
  attempt: Attempt;
  slot: Slot;
}

export class Caller {
  readonly #options: CriClientOptions;
  readonly #clock: Clock;
  readonly #channel: CriChannel;
  readonly #limiters = new Map<CriVerb, Limiter>();

  constructor(options: CriClientOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#channel = new CriChannel(options.endpoint);
    for (const [verb, limit] of Object.entries(options.concurrency ?? {})) {
      if (!isCriVerb(verb)) throw new Error(`cannot limit "${verb}": CRI v1 has no such call`);
      this.#limiters.set(verb, new Limiter(limit, options.clock));
    }
  }

  close(): void {
    this.#channel.close();
  }

  unary<Request extends object, Response>(
    method: MethodDefinition<Request, Response, false>,
    message: MessageFns<Request>,
    check?: ReplyCheck<Response>,
  ): UnaryCall<Request, Response> {
    const verb = verbOfPath(method.path);
    return async (partial, options) => {
      const request = withBoundedTimeout(message.fromPartial(partial));
      const attempt = this.#attempt(verb, request, options);
      const slot = new Slot(this.#clock, this.#limiters.get(verb));
      let failure: CriError | undefined;
      try {
        await slot.acquire(attempt);
        const bytes = method.requestSerialize(request);
        const send = (headers: Headers): Promise<Response> => this.#send(method, { bytes, headers, attempt, slot });
        const reply = await tracedCall(method.path, send);
        const wrong = check?.(reply);
        if (wrong !== undefined) throw new CriBadReplyError({ ...aboutAttempt(attempt), details: wrong });
        return reply;
      } catch (error) {
        failure = attemptError(attempt, error);
        throw failure;
      } finally {
        this.#finish(verb, slot, failure);
      }
    };
  }

  stream<Request extends object, Response>(
    method: MethodDefinition<Request, Response, true>,
    message: MessageFns<Request>,
  ): StreamCall<Request, Response> {
    const verb = verbOfPath(method.path);
    return (partial, options) => this.#read(method, verb, message.fromPartial(partial), options);
  }

  /** A call that the runtime has refused without looking at it is sent once more, on another connection if need be. */
  async #send<Request, Response>(method: MethodDefinition<Request, Response, false>, call: Call): Promise<Response> {
    try {
      return await this.#sendOnce(method, call);
    } catch (error) {
      if (!(error instanceof CallFailedError) || !error.unprocessed) throw error;
      return await this.#sendOnce(method, call);
    }
  }

  #sendOnce<Request, Response>(
    method: MethodDefinition<Request, Response, false>,
    { bytes, headers, attempt, slot }: Call,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      let reply: Buffer | undefined;
      const timeoutMs = this.#left(attempt, slot);
      const exchange = new Exchange(
        this.#open(attempt),
        { path: method.path, message: bytes, headers, timeoutMs },
        {
          message: (message) => {
            reply ??= message;
          },
          end: (failure) => {
            stopWatching();
            try {
              faultPoint("cri-reply");
              if (failure !== undefined) reject(failure);
              else if (reply === undefined) reject(new CallFailedError("INTERNAL", "the runtime sent no reply"));
              else resolve(decoded(method, reply));
            } catch (defect) {
              reject(asError(defect));
            }
          },
        },
      );
      const stopWatching = this.#watch(attempt, timeoutMs, exchange);
    });
  }

  async *#read<Request extends object, Response>(
    method: MethodDefinition<Request, Response, true>,
    verb: CriVerb,
    request: Request,
    options: CallOptions | undefined,
  ): AsyncGenerator<Response> {
    const attempt = this.#attempt(verb, request, options);
    const slot = new Slot(this.#clock, this.#limiters.get(attempt.verb));
    let failure: CriError | undefined;
    let span: OpenSpan | undefined;
    try {
      await slot.acquire(attempt);
      span = streamSpan(method.path);
      const timeoutMs = this.#left(attempt, slot);
      const incoming = new Incoming();
      const exchange = new Exchange(
        this.#open(attempt),
        { path: method.path, message: method.requestSerialize(request), headers: headersOf(span), timeoutMs },
        incoming,
      );
      incoming.from(exchange);
      const stopWatching = this.#watch(attempt, timeoutMs, exchange);
      try {
        for await (const bytes of incoming) {
          faultPoint("cri-stream");
          yield decoded(method, bytes);
        }
      } finally {
        stopWatching();
        exchange.cancel(new CallFailedError("CANCELLED", "its reader stopped"));
      }
    } catch (error) {
      failure = attemptError(attempt, error);
      span?.fail(failure);
      throw failure;
    } finally {
      span?.end();
      this.#finish(attempt.verb, slot, failure);
    }
  }

  #attempt(verb: CriVerb, request: object, options: CallOptions | undefined): Attempt {
    const own = deadlineFor(verb, timeoutSecondsOf(request), this.#options.runtimeRequestTimeoutMs);
    const budgetMs = options?.deadlineMs ?? own;
    if (budgetMs !== undefined && !(budgetMs >= 0)) {
      const about = { verb, subject: subjectOf(request), endpoint: this.#options.endpoint };
      throw criError({ ...about, code: "INVALID_ARGUMENT", details: `a deadline of ${budgetMs} ms can't be kept` });
    }
    return { verb, request, endpoint: this.#options.endpoint, signal: options?.signal, budgetMs };
  }

  /** The link to send on. Nothing may await between this and #watch, or an abort could slip through. */
  #open(attempt: Attempt): Link {
    attempt.signal?.throwIfAborted();
    if (this.#channel.closed) {
      throw criError({ ...aboutAttempt(attempt), code: "CANCELLED", details: "this CRI client has been closed" });
    }
    return this.#channel.acquire();
  }

  /** Time until the deadline, ms. */
  #left({ budgetMs }: Attempt, slot: Slot): number | undefined {
    return budgetMs === undefined ? undefined : Math.min(Math.max(0, budgetMs - slot.queuedMs), LONGEST_MS);
  }

  /** Cancels the call on abort, at its deadline, or when its connection does not come up. Returns what ends the watch. */
  #watch({ signal }: Attempt, timeoutMs: number | undefined, exchange: Exchange): () => void {
    const giveUp = (code: CriCode, details: string): void => exchange.cancel(new CallFailedError(code, details));
    const onAbort = (): void => giveUp("CANCELLED", `given up: ${String(signal?.reason)}`);
    signal?.addEventListener("abort", onAbort, { once: true });
    const deadline =
      timeoutMs === undefined
        ? undefined
        : this.#clock.after(timeoutMs, () =>
            giveUp("DEADLINE_EXCEEDED", `the runtime did not end the call within ${Math.round(timeoutMs)} ms`),
          );
    const connecting = this.#channel.disconnected
      ? this.#clock.after(CONNECT_TIMEOUT_MS, () => {
          if (!this.#channel.disconnected) return;
          giveUp("UNAVAILABLE", `the socket takes connections, but nothing answered within ${CONNECT_TIMEOUT_MS} ms`);
        })
      : undefined;
    return () => {
      deadline?.cancel();
      connecting?.cancel();
      signal?.removeEventListener("abort", onAbort);
    };
  }

  #finish(verb: CriVerb, slot: Slot, error: CriError | undefined): void {
    slot.giveBack();
    const { queuedMs, durationMs } = slot;
    const record: CallRecord = { verb, operation: OPERATIONS[verb], durationMs, queuedMs };
    this.#options.onCall?.(error === undefined ? record : { ...record, error });
  }
}

/** @throws CallFailedError: the runtime sent something else */
function decoded<Response>(method: { responseDeserialize(bytes: Buffer): Response }, bytes: Buffer): Response {
  try {
    return method.responseDeserialize(bytes);
  } catch (error) {
    throw new CallFailedError("INTERNAL", `the runtime's answer cannot be decoded: ${messageOf(error)}`);
  }
}

/** A call's place among the calls of its verb, and its time keeping. */
class Slot {
  readonly #clock: Clock;
  readonly #limiter: Limiter | undefined;
  readonly #asked: number;
  #taken: number | undefined;
  #held: { release(): void; long: Timer } | undefined;

  constructor(clock: Clock, limiter: Limiter | undefined) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#asked = clock.monotonic();
  }

  async acquire(attempt: Attempt): Promise<void> {
    const limiter = this.#limiter;
    await limiter?.acquire({ timeoutMs: attempt.budgetMs, signal: attempt.signal });
    this.#taken = this.#clock.monotonic();
    if (limiter === undefined) return;
    const release = (): void => limiter.release();
    this.#held = { release, long: this.#clock.after(LONG_CALL_MS, () => this.giveBack()) };
  }

  /** Once counts. */
  giveBack(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.long.cancel();
    held?.release();
  }

  get queuedMs(): number {
    return (this.#taken ?? this.#clock.monotonic()) - this.#asked;
  }
  /** Since the slot was taken. */
  get durationMs(): number {
    return this.#taken === undefined ? 0 : this.#clock.monotonic() - this.#taken;
  }
}
