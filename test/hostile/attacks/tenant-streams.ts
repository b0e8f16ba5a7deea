// A tenant's containers that never stop sending, and clients with rights on them: commands, attached terminals,
// forwarded ports, logs, and requests without pause.

import { size, type Attack } from "../attack.js";
import type { HostileBench } from "../bench.js";
import { FrameVisitors } from "../frame-visitors.js";
import { type OddRequest, RequestVisitors } from "../request-visitors.js";
import { StreamVisitors } from "../stream-visitors.js";
import { each, hostile, tenantAttack, tenantPod } from "./tenant-kit.js";

const PODS = size(2, 6);
const PORT = 9001;
const VISITORS = size(6, 30);

/** Clients of the tenant's pods while they run. */
interface Visitors {
  stop(): Promise<void>;
}

interface VisitedAttack<V extends Visitors> {
  name: string;
  visit: (bench: HostileBench, pods: readonly string[]) => V;
  /** What they did, in a few words; undefined: nothing. */
  did: (visitors: V) => string | undefined;
}

/** Pods that write without end, as logs, as output and at a port. */
function visited<V extends Visitors>({ name, visit, did }: VisitedAttack<V>): Attack {
  const attack = tenantAttack({
    ...{ name, seconds: size(8, 30), effect: { runs: PODS } },
    pods: (bench) =>
      each(PODS, (pod) =>
        tenantPod(bench, pod, [
          hostile("noise", "yes 'noise without end'"),
          hostile("server", `nc -ll -p ${PORT} -e yes`),
        ]),
      ),
  });
  return {
    ...attack,
    async start(bench) {
      const running = await attack.start(bench);
      const visitors = visit(
        bench,
        each(PODS, (pod) => pod),
      );
      return {
        async stop() {
          await visitors.stop();
          const pods = await running.stop();
          const text = did(visitors);
          if (text === undefined) throw new Error("the clients did nothing");
          return `${pods}, ${text}`;
        },
      };
    },
  };
}

const mib = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB read`;

/** `paths`: of one pod. */
function streamsAttack(name: string, paths: (pod: string) => string[]): Attack {
  return visited({
    name,
    visit: (bench, pods) => new StreamVisitors(bench, pods.flatMap(paths), VISITORS),
    did: ({ opened, bytes }) => (bytes === 0 ? undefined : `${opened} streams, ${mib(bytes)}`),
  });
}

/** `paths`: of one pod. */
function requestsAttack(name: string, paths: (pod: string) => string[]): Attack {
  return visited({
    name,
    visit: (bench, pods) => new RequestVisitors(bench, pods.flatMap(paths), VISITORS),
    did: ({ responses, bytes }) => (responses === 0 ? undefined : `${responses} responses, ${mib(bytes)}`),
  });
}

const KIB = 1024;

/** Requests of a client with all rights that no honest one sends. */
function oddRequests(pod: string): OddRequest[] {
  const long = "x".repeat(100 * KIB);
  const of = `default/${pod}/noise`;
  return [
    { path: `/exec/${of}?${"command=a&".repeat(10_000)}output=1` },
    { path: `/run/${of}?cmd=${long}`, method: "POST" },
    { path: `/containerLogs/${of}?tailLines=999999999999999999999&limitBytes=1e309&sinceTime=9999-12-31T23:59:59Z` },
    { path: `/containerLogs/${of}?${"tailLines=1&".repeat(8_000)}` },
    { path: `/containerLogs/default/${long}/noise` },
    { path: `/checkpoint/${of}?timeout=99999999999999`, method: "POST" },
    { path: `/checkpoint/default/${long}/noise`, method: "POST" },
    { path: "/stats/summary?only_cpu_and_memory=true", body: long.slice(0, 60 * KIB) },
    { path: "/stats/summary", method: "POST", body: "{".repeat(60 * KIB) },
    { path: "/metrics", headers: { accept: "application/openmetrics-text;version=1.0.0;q=0.5,".repeat(2_000) } },
    { path: "/metrics/cadvisor", headers: { "accept-encoding": "gzip;q=0.001,".repeat(8_000) } },
    { path: "/configz", headers: { cookie: long } },
    { path: "/debug/flags/v", method: "PUT", body: "9".repeat(60 * KIB) },
    { path: `/logs/?query=kubelet&pattern=${"(".repeat(50 * KIB)}` },
    { path: `/logs/?query=kubelet&pattern=${encodeURIComponent(`(${"a+".repeat(10_000)})+$`)}` },
    { path: `/logs/${"%2e%2e/".repeat(10_000)}etc/shadow` },
    { path: "/pods", headers: { range: `bytes=${"0-1,".repeat(20_000)}2-3` } },
    { path: `/portForward/default/${pod}?${"port=80&".repeat(10_000)}` },
  ];
}

export const TENANT_STREAMS: readonly Attack[] = [
  visited({
    name: "requests with thousands of parameters, long paths, headers and bodies, by clients with all rights",
    visit: (bench, pods) => new RequestVisitors(bench, pods.flatMap(oddRequests), size(36, 90)),
    did: ({ answers, bytes }) => (answers === 0 ? undefined : `${answers} responses, ${mib(bytes)}`),
  }),
  streamsAttack("commands (exec) whose output has no end", (pod) => [
    `/exec/default/${pod}/noise?command=yes&output=1&error=1`,
    `/exec/default/${pod}/noise?command=cat&command=/dev/zero&output=1&error=1`,
  ]),
  streamsAttack("followers of logs without end who stop reading", (pod) => [
    `/containerLogs/default/${pod}/noise?follow=true`,
    `/containerLogs/default/${pod}/noise?follow=true&timestamps=true&sinceSeconds=3600`,
  ]),
  streamsAttack("attach and port-forward to containers that never stop sending", (pod) => [
    `/attach/default/${pod}/noise?output=1`,
    `/portForward/default/${pod}?port=${PORT}`,
  ]),
  requestsAttack("searches for a billion last lines in logs without end", (pod) => [
    `/containerLogs/default/${pod}/noise?tailLines=1000000000&limitBytes=1`,
    `/containerLogs/default/${pod}/noise?tailLines=1000000000&sinceTime=9999-01-01T00:00:00Z`,
  ]),
  requestsAttack("scrapes of metrics and statistics without pause", () => [
    ...["/metrics", "/metrics/cadvisor", "/metrics/resource", "/metrics/probes", "/stats/summary", "/pods"],
  ]),
  visited({
    name: "commands (exec) whose input is frames of one byte, fragments and pings",
    visit: (bench, pods) =>
      new FrameVisitors(
        bench,
        pods.map((pod) => `/exec/default/${pod}/server?command=cat&input=1&output=1`),
        VISITORS,
      ),
    did: ({ opened, batches }) => (opened === 0 ? undefined : `${opened} streams, ${batches} batches of frames`),
  }),
];
