// Queue bench: the ring queue against a plain MessagePort, between main and a worker, 64-byte records.
// Latency is idle latency: one record every few ms, from before the push until the consumer has it.

import { fileURLToPath } from "node:url";
import { MessageChannel, Worker, isMainThread, workerData, type MessagePort } from "node:worker_threads";
import { bytesCodec } from "../src/shared/base/queue/codec.js";
import { QueueReader } from "../src/shared/base/queue/queue-reader.js";
import { createRing, RingConsumer, RingProducer, type RingBuffers } from "../src/shared/base/queue/ring.js";

const RECORD_BYTES = 64;
const RING_BYTES = 1024 * 1024;
const END = 0n;

interface LatencyResult {
  /** µs. */
  p50: number;
  p99: number;
  max: number;
  samples: number;
}

interface QueueBenchRow {
  transport: "ring" | "MessagePort";
  direction: "worker → main" | "main → worker";
  latency: LatencyResult;
  recordsPerSecond: number;
}

export interface QueueBenchResult {
  recordBytes: number;
  rows: QueueBenchRow[];
}

export interface QueueBenchOptions {
  /** Idle records per latency run. Default 2000. */
  samples?: number;
  /** Records per throughput run over the ring; a tenth of it over MessagePort. Default 3 000 000. */
  records?: number;
}

type Transport = { kind: "ring"; buffers: RingBuffers } | { kind: "port"; port: MessagePort };
interface Job {
  role: "produce" | "consume";
  mode: "latency" | "throughput";
  transport: Transport;
  count: number;
}

/** Results of the consuming side. */
interface Tally {
  micros: number[];
  seconds: number;
}

const now = (): bigint => process.hrtime.bigint();
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Sends `count` records that begin with the time of their push, then one that begins with END. */
async function produce({ mode, transport, count }: Job): Promise<void> {
  const record = new Uint8Array(RECORD_BYTES);
  const stamp = new BigInt64Array(record.buffer);
  const producer = transport.kind === "ring" ? new RingProducer(transport.buffers) : undefined;
  const send = async (): Promise<void> => {
    if (transport.kind === "port") transport.port.postMessage(record);
    else while (producer?.tryPush(record) !== true) await turn();
  };
  for (let i = 0; i < count; i++) {
    if (mode === "latency") await pause(1 + (i % 3));
    if (mode === "latency" || i === 0) stamp[0] = now();
    if (mode === "latency" || transport.kind === "port") {
      await send();
      // A port has no bound: breathe, as a program that watches its memory would.
      if (mode === "throughput" && i % 1000 === 0) await turn();
    } else if (producer?.tryPush(record) !== true) {
      await send();
    }
  }
  stamp[0] = END;
  await send();
}

async function consume({ mode, transport }: Job): Promise<Tally> {
  const micros: number[] = [];
  let first = 0n;
  const hold = setInterval(() => undefined, 1000);
  const seconds = await new Promise<number>((resolve) => {
    const onRecord = (bytes: Uint8Array): void => {
      if (mode === "throughput" && first !== 0n && bytes[0] !== 0) return;
      const stamp = new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true);
      if (stamp === END) resolve(Number(now() - first) / 1e9);
      else if (mode === "latency") micros.push(Number(now() - stamp) / 1e3);
      else if (first === 0n) first = now();
    };
    if (transport.kind === "port") transport.port.on("message", onRecord);
    else {
      new QueueReader(new RingConsumer(transport.buffers), bytesCodec, onRecord, (error) => {
        throw error;
      }).start();
    }
  });
  clearInterval(hold);
  return { micros, seconds };
}

/** One run: this thread does `role`, a worker does the other. */
async function run(kind: Transport["kind"], role: Job["role"], mode: Job["mode"], count: number): Promise<Tally> {
  const { port1, port2 } = new MessageChannel();
  const buffers = createRing({ capacityBytes: RING_BYTES });
  const transports: [Transport, Transport] =
    kind === "ring"
      ? [
          { kind, buffers },
          { kind, buffers },
        ]
      : [
          { kind, port: port1 },
          { kind, port: port2 },
        ];
  const theirs: Job = { role: role === "produce" ? "consume" : "produce", mode, transport: transports[1], count };
  const worker = new Worker(fileURLToPath(import.meta.url), {
    workerData: theirs,
    transferList: kind === "port" ? [port2] : [],
  });
  const answer = new Promise<Tally>((resolve, reject) => {
    worker.once("message", (tally: Tally) => resolve(tally));
    worker.once("error", reject);
  });
  const mine: Job = { role, mode, transport: transports[0], count };
  await new Promise((resolve) => worker.once("online", resolve));
  const tally = role === "consume" ? await consume(mine) : (await produce(mine), await answer);
  await worker.terminate();
  port1.close();
  port2.close();
  return tally;
}

function summarise(micros: number[]): LatencyResult {
  const sorted = [...micros].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return { p50: at(0.5), p99: at(0.99), max: at(1), samples: sorted.length };
}

/** Runs the four rows; about 20 s with the defaults. */
export async function benchQueue(options: QueueBenchOptions = {}): Promise<QueueBenchResult> {
  const samples = options.samples ?? 2000;
  const records = options.records ?? 3_000_000;
  const rows: QueueBenchRow[] = [];
  for (const kind of ["ring", "port"] as const) {
    for (const role of ["consume", "produce"] as const) {
      const { micros } = await run(kind, role, "latency", samples);
      const count = kind === "ring" ? records : Math.ceil(records / 10);
      const { seconds } = await run(kind, role, "throughput", count);
      rows.push({
        transport: kind === "ring" ? "ring" : "MessagePort",
        direction: role === "consume" ? "worker → main" : "main → worker",
        latency: summarise(micros),
        recordsPerSecond: count / seconds,
      });
    }
  }
  return { recordBytes: RECORD_BYTES, rows };
}

async function workerMain(job: Job): Promise<void> {
  const { parentPort } = await import("node:worker_threads");
  if (job.role === "produce") await produce(job);
  else parentPort?.postMessage(await consume(job));
}

if (!isMainThread && (workerData as Partial<Job> | null)?.role !== undefined) {
  await workerMain(workerData as Job);
} else if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { recordBytes, rows } = await benchQueue();
  console.log(`records of ${recordBytes} bytes; latency idle, µs`);
  console.table(
    rows.map(({ transport, direction, latency, recordsPerSecond }) => ({
      transport,
      direction,
      p50: latency.p50.toFixed(1),
      p99: latency.p99.toFixed(1),
      max: latency.max.toFixed(1),
      "records/s": Math.round(recordsPerSecond).toLocaleString("en"),
    })),
  );
}
