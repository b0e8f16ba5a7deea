// /metrics/slis: the results of the health checks, counted at each scrape. DELETE resets the counts.

import { ThreadRegistry } from "../../../shared/telemetry/metrics/thread-registry.js";
import type { Route } from "../http/answer.js";
import { replyPage } from "../http/compress.js";
import { replyText } from "../http/reply.js";
import { exposition, showProcessStart } from "../metrics/exposition.js";
import { processStartTime } from "../metrics/process-metrics.js";
import type { HealthCheck } from "./health.js";

const TYPE = "healthz";

export class HealthSlis {
  private registry = pageRegistry();

  /** The checks, counted as they run. */
  observed(checks: readonly HealthCheck[]): HealthCheck[] {
    return checks.map(({ name, check, ...others }) => ({
      ...others,
      name,
      check: () => {
        const problem = check();
        this.count(name, problem === undefined);
        return problem;
      },
    }));
  }

  route(): Route {
    return {
      path: "/metrics/slis",
      answer: async (request, response) => {
        if (request.method === "DELETE") {
          this.registry = pageRegistry();
          replyText(response, "metrics reset\n");
        } else {
          const page = await exposition([await this.registry.exportSnapshot()], request.headers.accept);
          await showProcessStart(response);
          await replyPage(request, response, page.body, page.contentType);
        }
      },
    };
  }

  private count(name: string, healthy: boolean): void {
    const { result, results } = sliMetrics(this.registry);
    result.set({ name, type: TYPE }, healthy ? 1 : 0);
    results.inc({ name, type: TYPE, status: healthy ? "success" : "error" });
  }
}

export function sliMetrics(registry: ThreadRegistry) {
  return {
    result: registry.gauge("kubernetes_healthcheck", "Result of a single health check; 1 if healthy", ["name", "type"]),
    results: registry.counter("kubernetes_healthchecks_total", "Number of health check results, by status", [
      "name",
      "type",
      "status",
    ]),
  };
}

function pageRegistry(): ThreadRegistry {
  const registry = new ThreadRegistry("server");
  processStartTime(registry);
  return registry;
}
