// The pleg logic in-thread, on the fake runtime: its own timers run under virtual time, the CRI calls are real.

import type { TestContext } from "node:test";
import { WholePods } from "../../../src/main/threads/whole-pods.js";
import type { InspectHint, PlegInit, PlegRecord } from "../../../src/shared/contracts/pleg.js";
import type { ObservedPod } from "../../../src/shared/kubernetes/cri/observed-pod.js";
import { podUid } from "../../../src/shared/kubernetes/identifiers.js";
import { ThreadRegistry } from "../../../src/shared/telemetry/metrics/thread-registry.js";
import { plegMetrics } from "../../../src/workers/pleg/metrics.js";
import { Pleg } from "../../../src/workers/pleg/pleg.js";
import type { FakeCriOptions } from "../../fake-cri/fake-cri.js";
import { pair } from "../../shared/kubernetes/cri/support.js";
import { keptLog, until } from "../../support/sources-kit.js";
import { SteppedClock } from "../../support/stepped-clock.js";

const TEST_INIT: PlegInit = {
  endpoint: "",
  imageEndpoint: "",
  runtimeRequestTimeoutMs: 10_000,
  listStreaming: false,
  criChannel: "own",
  podsDir: "/nonexistent/pods",
  inspectDeadlineMs: 10_000,
  inspectConcurrency: 4,
  listDeadlineMs: 10_000,
  relistActiveMs: 1000,
  relistIdleMs: 10_000,
  statusPeriodMs: 5000,
  useEvents: false,
};

export async function plegOn(t: TestContext, fakeOptions: Partial<FakeCriOptions> = {}, init: Partial<PlegInit> = {}) {
  const { fake, client } = await pair(t, fakeOptions);
  const clock = new SteppedClock();
  const kept = keptLog();
  const records: PlegRecord[] = [];
  const pods = new WholePods();
  const registry = new ThreadRegistry("test");
  const pleg = new Pleg(
    { ...TEST_INIT, endpoint: fake.endpoint, imageEndpoint: fake.endpoint, ...init },
    {
      cri: client,
      clock,
      log: kept.log,
      records: {
        push(record) {
          const whole = pods.onRecord(record);
          if (whole !== undefined) records.push(whole);
        },
      },
      metrics: plegMetrics(registry),
    },
  );
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= pleg.stop());
  t.after(stop);
  const podRecords = (uid: string): ObservedPod[] =>
    records.flatMap((record) => (record.kind === "pod" && record.observed.uid === uid ? [record.observed] : []));
  const kinds = (kind: PlegRecord["kind"]): number => records.filter((record) => record.kind === kind).length;
  /** Lets `ms` of virtual time pass until the next relist has ended. */
  const relist = async (ms = 1000): Promise<void> => {
    const before = kinds("relisted");
    clock.step(ms);
    await until("a relist has ended", () => kinds("relisted") > before);
    await nothingPending();
  };
  /** Inspections that the fake still serves. */
  const nothingPending = async (): Promise<void> => {
    let quiet = 0;
    await until("no call is under way", () => {
      quiet = fake.calls.every((call) => call.endedAt !== undefined || call.verb === "GetContainerEvents")
        ? quiet + 1
        : 0;
      return quiet > 3;
    });
  };
  return {
    fake,
    client,
    clock,
    kept,
    records,
    registry,
    pleg,
    stop,
    podRecords,
    kinds,
    relist,
    nothingPending,
    last: (uid: string) => podRecords(uid).at(-1),
    failures: () => records.filter((record) => record.kind === "inspect-failed"),
    runtimes: () => records.flatMap((record) => (record.kind === "runtime" ? [record.state] : [])),
    ask: (uid: string, generation: number, hints: InspectHint[] = []) =>
      pleg.request({ uid: podUid(uid), generation, hints }),
    /** The thread after its first relist. */
    started: async () => {
      pleg.start();
      clock.step(0);
      await until(
        "the first relist has ended and the runtime answered",
        () => kinds("relisted") > 0 && kinds("runtime") > 0,
      );
      await nothingPending();
    },
  };
}
