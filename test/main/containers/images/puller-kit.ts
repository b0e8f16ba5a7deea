// A puller on the fake runtime under virtual time, with everything it tells.

import type { TestContext } from "node:test";
import { type ImageCredentials } from "../../../../src/main/containers/images/credentials.js";
import { openAccess, type ImageAccess } from "../../../../src/main/containers/images/image-access.js";
import { ImagePuller } from "../../../../src/main/containers/images/image-puller.js";
import { imageMetrics } from "../../../../src/main/containers/images/metrics.js";
import { PullRate } from "../../../../src/main/containers/images/pull-limits.js";
import { PullTurns } from "../../../../src/main/containers/images/pull-turns.js";
import { Pulls } from "../../../../src/main/containers/images/pulls.js";
import type { EventInput } from "../../../../src/main/model/event-recorder.js";
import type { Container, Pod, PullPolicy } from "../../../../src/shared/kubernetes/api/pod.js";
import { PodSandboxConfig } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import type { FakeCriOptions } from "../../../fake-cri/fake-cri.js";
import { pair } from "../../../shared/kubernetes/cri/support.js";
import { pod as makePod } from "../../../support/pods.js";
import { noTrace } from "../../../support/silent.js";
import { noCredentials } from "../../../support/silent.js";
import { keptLog } from "../../../support/sources-kit.js";
import { SteppedClock } from "../../../support/stepped-clock.js";

export const BUSYBOX = "nodelet.local/busybox:1";
export const REMOTE = "registry.test/tool:2";
export const SECOND = "registry.test/other:1";
export const never = new AbortController().signal;
export const sandbox = PodSandboxConfig.fromPartial({});

export interface PullerOptions {
  fake?: Partial<FakeCriOptions>;
  /** Pulls at once; 1 by default. */
  limit?: number | undefined;
  qps?: number;
  burst?: number;
  credentials?: ImageCredentials;
  access?: ImageAccess;
  /** Runtime handler of every pod. */
  handler?: string;
}

export async function build(t: TestContext, options: PullerOptions = {}) {
  const { qps = 0, burst = 1, credentials = noCredentials, access = openAccess } = options;
  const { fake, client: cri } = await pair(t, {
    registry: { [REMOTE]: {}, [SECOND]: {}, [BUSYBOX]: {} },
    ...options.fake,
  });
  const clock = new SteppedClock();
  const kept = keptLog();
  const registry = new ThreadRegistry("main");
  const events: string[] = [];
  const record = (pod: Pod, { type, reason, message, container = "-" }: EventInput): void => {
    events.push(`${pod.metadata.name}/${container} ${type} ${reason}: ${message}`);
  };
  const turns = new PullTurns("limit" in options ? options.limit : 1);
  const rate = new PullRate(qps, burst, clock);
  const puller = new ImagePuller({
    trace: noTrace,
    cri,
    clock,
    events: { pod: record, node: () => undefined },
    pulls: new Pulls({ cri, clock, log: kept.log, turns, rate, credentials, access }),
    access,
    credentials,
    metrics: imageMetrics(registry),
    handlerOf: () => Promise.resolve(options.handler ?? ""),
  });
  const pulls = (): number => fake.calls.filter((call) => call.verb === "PullImage").length;
  const ensure = (image: string, imagePullPolicy?: PullPolicy, pod: Pod = makePod(), signal = never) => {
    const container: Container = { name: "app", image, ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }) };
    return puller.ensure(pod, container, sandbox, signal);
  };
  return { fake, clock, kept, registry, events, turns, puller, pulls, ensure };
}
