// A tenant's containers that never stop sending, and clients that open streams to them: commands, attached terminals,
// forwarded ports, logs.

import { size, type Attack } from "../attack.js";
import { StreamVisitors } from "../stream-visitors.js";
import { each, hostile, tenantAttack, tenantPod } from "./tenant-kit.js";

const PODS = size(2, 6);
const PORT = 9001;
const VISITORS = size(6, 30);

/** `paths`: of one pod. */
function streamsAttack(name: string, paths: (pod: string) => string[]): Attack {
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
      const visitors = new StreamVisitors(bench, each(PODS, (pod) => pod).flatMap(paths), VISITORS);
      return {
        async stop() {
          await visitors.stop();
          const did = await running.stop();
          if (visitors.bytes === 0) throw new Error("no stream sent a byte");
          return `${did}, ${visitors.opened} streams, ${Math.round(visitors.bytes / 2 ** 20)} MiB read`;
        },
      };
    },
  };
}

export const TENANT_STREAMS: readonly Attack[] = [
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
];
