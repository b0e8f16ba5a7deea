// The routes for resource usage of pods and containers: /stats/summary, /metrics/resource, /metrics/cadvisor. Their
// modules are loaded with the first request.

import type { IncomingMessage } from "node:http";
import { finished } from "node:stream/promises";
import { Deferred } from "../../../shared/base/turns/deferred.js";
import { queryOf, type Target } from "../../../shared/io/http/target.js";
import type { Answer, Route } from "../http/answer.js";
import { writePage } from "../http/compress.js";
import { wantBody } from "../http/http1/bodies.js";
import { replyError, replyText } from "../http/reply.js";
import { prefersProtobuf, protobufContentType, showProcessStart, textContentType } from "../metrics/exposition.js";
import { Breath } from "./breath.js";
import { failedCadvisorPage } from "./cadvisor-look.js";
import { resourcePage } from "./exposition/resource.js";
import type { Page } from "./exposition/text.js";
import type { NodeReadings } from "./readings.js";
import type { StatsServiceDeps, PageBytes, StatsService } from "./stats-service.js";

export class Stats {
  private readonly service: Deferred<StatsService>;

  constructor(private readonly deps: StatsServiceDeps) {
    this.service = new Deferred({
      name: "the stats of node and pods",
      when: "first use",
      load: async () => (await import("./stats-service.js")).StatsService.open(deps),
      end: (service) => service.close(),
    });
  }

  routes(): Route[] {
    const summary: Answer = async (request, response, { target }) => {
      try {
        // First: a body without a listener is discarded.
        const core = await wantsCore(request, target);
        const service = await this.service.get();
        replyText(response, await service.summary(!core), "application/json");
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        this.deps.log.error({ err: error }, "cannot compute the stats summary of the node and its pods");
        replyError(response, 500, `Internal Error: ${error.message}`);
      }
    };
    return [
      { path: "/stats/summary", service: "/stats/", methods: ["GET", "POST"], answer: summary },
      {
        path: "/metrics/resource",
        answer: this.page(
          (service) => service.resource(),
          () => resourcePage(undefined),
        ),
      },
      {
        path: "/metrics/cadvisor",
        answer: this.page(
          (service) => service.cadvisor(),
          () => failedCadvisorPage().page,
        ),
      },
    ];
  }

  /** The present usage of pods and containers, for the status page. Rejects when cgroups cannot be read. */
  async usage(): Promise<NodeReadings> {
    return (await this.service.get()).usage();
  }

  close(): Promise<void> {
    return this.service.stop();
  }

  /** @param failed the page of a node that cannot be read */
  private page(make: (service: StatsService) => Promise<PageBytes>, failed: () => Page): Answer {
    return async (request, response) => {
      const page = await this.service
        .get()
        .then(make)
        .catch((error: unknown) => {
          this.deps.log.error({ err: error }, "cannot read the resource usage of the node and its pods");
          return failed().chunks();
        });
      await showProcessStart(response);
      const { accept } = request.headers;
      if (!prefersProtobuf(accept)) {
        await writePage(request, response, page, textContentType(accept));
        return;
      }
      const { protobufPage } = await import("./exposition/protobuf-page.js");
      const messages = protobufPage(page, new Breath(this.deps.clock));
      await writePage(request, response, messages, protobufContentType(accept));
    };
  }
}

/** Longest form that is read: the parameter is the only one there is. */
const FORM_LIMIT = 4096;

/** Texts that Go parses as true. */
const TRUE = new Set(["1", "t", "T", "TRUE", "true", "True"]);

/** only_cpu_and_memory, in the query or in the form of a POST, which wins. */
async function wantsCore(request: IncomingMessage, target: Target): Promise<boolean> {
  const form = request.method === "POST" ? await readForm(request) : undefined;
  const given = form?.get("only_cpu_and_memory") ?? queryOf(target).get("only_cpu_and_memory") ?? "";
  return TRUE.has(given);
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  if (request.headers["content-type"]?.startsWith("application/x-www-form-urlencoded") !== true) return undefined;
  let text = "";
  wantBody(request);
  request.on("data", (chunk: Buffer) => {
    if (text.length <= FORM_LIMIT) text += chunk.toString("latin1");
  });
  await finished(request, { writable: false });
  return text.length <= FORM_LIMIT ? queryOf({ query: text }) : undefined;
}
