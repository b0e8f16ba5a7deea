// The routes of what pods and containers use: /stats/summary, /metrics/cadvisor, /metrics/resource.
import type { Route } from "../answer.js";

export function statsRoutes(): Route[] {
  return [];
}
