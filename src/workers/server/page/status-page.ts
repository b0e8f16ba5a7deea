// The status page, put together. Loaded only with --status-page or --status-page-port.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { messageOf } from "../../../shared/base/errors/thrown.js";
import type { ThreadSnapshot } from "../../../shared/base/queue/board.js";
import type { UnusedImage } from "../../../shared/contracts/image-gc.js";
import type { NodeFacts, PodFacts } from "../../../shared/contracts/nodelet.js";
import type { ConfigzBodies, HandlerInit } from "../../../shared/contracts/server.js";
import { FACTS_KEY } from "../../../shared/contracts/status-page.js";
import type { PodTimeline } from "../../../shared/contracts/timeline.js";
import type { Event } from "../../../shared/kubernetes/api/event.js";
import type { CriClient } from "../../../shared/kubernetes/cri/client.js";
import { listKernelDirectories, readKernelText } from "../../../shared/node/stats/kernel-file.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { nodeletImages } from "../admin/images.js";
import { nodeletStatus, threadFacts, type StatusDeps } from "../admin/status.js";
import type { Answer, Route } from "../http/answer.js";
import { replyError } from "../http/reply.js";
import { containerLogsRoute } from "../logs/pods/container-logs.js";
import type { ReaderTurns } from "../logs/pods/reader-turns.js";
import type { PodList } from "../pods/pod-list.js";
import { PodShares } from "../pods/pod-shares.js";
import type { NodeReadings } from "../stats/readings.js";
import { Feed, type Entries } from "./feed.js";
import { hostFacts } from "./host-facts.js";
import { readPageDocument } from "./page-document.js";
import { pageRoutes } from "./page-routes.js";
import { podDetails } from "./pod-details.js";
import { PodTexts } from "./pod-texts.js";
import { usageEntries } from "./pod-usage.js";
import { UsageRing } from "./usage-ring.js";

const THREADS_MS = 1000;
const PODS_MS = 500;
/** With a request to the API server each time. */
const STATUS_MS = 5000;
const POD_MS = 1000;
const IMAGES_MS = 10_000;
const SAMPLES_MS = 2000;
/** Reads the cgroups of all pods. */
const USAGE_MS = 5000;
const HOST_MS = 10_000;
const EVENTS_MS = 5000;
/** Readers of logs at once: far below the limits of /containerLogs, which kubectl has to itself. */
const FOLLOWERS = 32;
const FOLLOWER_WATCHES = 8;

export interface StatusPageDeps {
  handlers: HandlerInit;
  pods: PodList;
  configz: () => ConfigzBodies;
  upcalls: {
    nodeFacts(): Promise<NodeFacts>;
    podFacts(namespace: string, name: string): Promise<PodFacts | undefined>;
    allPodFacts(): Promise<Record<string, PodFacts>>;
    podStarts(): Promise<Record<string, number>>;
    timeline(namespace: string, name: string): Promise<PodTimeline | undefined>;
    unusedImages(): Promise<UnusedImage[]>;
    events(about: string): Promise<Event[]>;
  };
  status: Omit<StatusDeps, "facts" | "threads" | "clock">;
  threads: () => readonly ThreadSnapshot[];
  usage: () => Promise<Pick<NodeReadings, "pods">>;
  images: () => Promise<Pick<CriClient, "listImages" | "imageFsInfo">>;
  /** Shared by all readers of logs on this thread. */
  logReaders: ReaderTurns;
  clock: Clock;
  log: Logger;
}

export class StatusPage {
  readonly routes: Route[];
  private readonly ring: UsageRing;
  private readonly podTexts: PodTexts;
  private readonly podFeeds = new Map<string, Feed>();

  constructor(private readonly deps: StatusPageDeps) {
    const { clock, configz, status } = deps;
    this.podTexts = new PodTexts(deps.pods);
    this.ring = new UsageRing({
      read: readKernelText,
      residentBytes: () => process.memoryUsage.rss(),
      disk: () => status.disk(status.rootDir),
      clock,
    });
    this.routes = pageRoutes({
      document: readPageDocument,
      node: this.nodeFeed(),
      images: new Feed([{ everyMs: IMAGES_MS, read: () => this.images() }], clock),
      host: this.hostFeed(),
      pod: (namespace, name) => this.podFeed(namespace, name),
      configz,
      logs: this.logs(),
      clock,
    });
    this.ring.start();
  }

  close(): Promise<void> {
    return this.ring.stop();
  }

  private nodeFeed(): Feed {
    const { deps, ring, podTexts } = this;
    const { upcalls, status, threads, usage, clock } = deps;
    return new Feed(
      [
        { everyMs: PODS_MS, read: () => podTexts.entries(), idle: () => podTexts.clear() },
        { everyMs: USAGE_MS, read: async () => usageEntries(await usage()) },
        { everyMs: THREADS_MS, read: () => entry("threads", threads().map(threadFacts)) },
        {
          everyMs: STATUS_MS,
          read: async () =>
            entry("status", await nodeletStatus({ ...status, facts: () => upcalls.nodeFacts(), threads, clock })),
        },
        { everyMs: STATUS_MS, read: async () => entry("starts", await upcalls.podStarts()) },
        { everyMs: STATUS_MS, read: async () => factEntries(await upcalls.allPodFacts()) },
        { everyMs: SAMPLES_MS, read: () => new Map([...ring.entries(), ...entry("machine", ring.machine())]) },
      ],
      clock,
    );
  }

  /** For the view of the node alone. */
  private hostFeed(): Feed {
    const { upcalls, status, clock } = this.deps;
    return new Feed(
      [
        { everyMs: HOST_MS, read: () => entry("host", hostFacts(readKernelText, listKernelDirectories)) },
        // The UID of events about the node is its name.
        { everyMs: EVENTS_MS, read: async () => entry("events", await upcalls.events(status.node)) },
      ],
      clock,
    );
  }

  private podFeed(namespace: string, name: string): Feed {
    for (const [key, { clientCount }] of this.podFeeds) if (clientCount === 0) this.podFeeds.delete(key);
    const key = `${namespace}/${name}`;
    const { upcalls, pods, clock } = this.deps;
    const known = this.podFeeds.get(key);
    if (known !== undefined) return known;
    const feed = new Feed(
      [
        {
          everyMs: POD_MS,
          read: async () => entry("facts", (await upcalls.podFacts(namespace, name)) ?? null),
        },
        {
          everyMs: POD_MS,
          read: async () => entry("timeline", (await upcalls.timeline(namespace, name)) ?? null),
        },
        {
          everyMs: POD_MS,
          read: () => {
            const pod = pods.find(namespace, name);
            return entry("details", pod === undefined ? null : podDetails(pod));
          },
        },
      ],
      clock,
    );
    this.podFeeds.set(key, feed);
    return feed;
  }

  private async images(): Promise<Entries> {
    const { images, pods, upcalls, status } = this.deps;
    try {
      return entry(
        "images",
        await nodeletImages({
          images,
          pods: () => pods.all(),
          unused: () => upcalls.unusedImages(),
          disk: status.disk,
        }),
      );
    } catch (error) {
      return entry("problem", messageOf(error));
    }
  }

  private logs(): Answer {
    const { handlers, pods, logReaders, clock, log } = this.deps;
    if (!handlers.enableDebuggingHandlers) {
      return (_request, response) => replyError(response, 405, "Debug endpoints are disabled.");
    }
    return containerLogsRoute({
      pods,
      podLogsDir: handlers.podLogsDir,
      splitStreams: handlers.gates.podLogsQuerySplitStreams,
      followers: new PodShares(FOLLOWERS),
      watches: new PodShares(FOLLOWER_WATCHES),
      turns: logReaders,
      clock,
      log,
    }).answer;
  }
}

function factEntries(facts: Readonly<Record<string, PodFacts>>): Entries {
  return new Map(Object.entries(facts).map(([uid, one]) => [`${FACTS_KEY}${uid}`, JSON.stringify(one)]));
}

function entry(key: string, value: unknown): Map<string, string> {
  return new Map([[key, JSON.stringify(value)]]);
}
