// A tenant's load: probes, output and processes without end, inside the limits that the pod has.

import type { Fields } from "../../fake-api/fake-api.js";
import { size } from "../attack.js";
import { each, hostile, REST, tenantAttack, tenantPod } from "./tenant-kit.js";

const OFTEN = { periodSeconds: 1, failureThreshold: 1_000 };

const BOMB = [
  "printf '%s\\n' \"trap 'exec sh /bomb' EXIT\" 'while true; do sh /bomb & done' > /bomb",
  "exec sh /bomb",
].join("\n");

const forkBombs = tenantAttack({
  ...{ name: "fork bombs limited by podPidsLimit", seconds: size(6, 20), effect: { runs: 2 } },
  pods: (bench) => each(size(2, 4), (pod) => tenantPod(bench, pod, [hostile("app", BOMB)])),
});

const sleepingProbes = tenantAttack({
  ...{ name: "exec probes that sleep for 600 s", seconds: size(10, 30), short: true, effect: { runs: size(10, 40) } },
  pods: (bench) => {
    const probe = { ...OFTEN, timeoutSeconds: 600, exec: { command: ["sleep", "600"] } };
    const probes: Fields = { readinessProbe: probe, livenessProbe: probe };
    return each(size(1, 4), (pod) =>
      tenantPod(
        bench,
        pod,
        each(10, (one) => hostile(one, REST, probes), "c"),
      ),
    );
  },
});

const endlessProbes = tenantAttack({
  ...{ name: "probes with endless output, response bodies and headers", seconds: size(8, 30), effect: { runs: 4 } },
  pods: (bench) => {
    const exec = { ...OFTEN, timeoutSeconds: 30, exec: { command: ["yes", "endless"] } };
    const http = (port: number): Fields => ({ ...OFTEN, timeoutSeconds: 30, httpGet: { port } });
    const head = "HTTP/1.1 200 OK\\r\\n";
    const serve = (port: number, text: string): string => `nc -ll -p ${port} -e sh -c '${text}'`;
    return each(size(2, 6), (pod) =>
      tenantPod(bench, pod, [
        hostile("output", REST, { livenessProbe: exec, readinessProbe: exec }),
        hostile("body", serve(9001, `printf "${head}\\r\\n"; yes`), { readinessProbe: http(9001) }),
        hostile("head", serve(9002, `printf "${head}"; yes "X-Endless: 1"`), { readinessProbe: http(9002) }),
        hostile("silent", serve(9003, "sleep 600"), { readinessProbe: http(9003), livenessProbe: http(9003) }),
      ]),
    );
  },
});

const deadNames = tenantAttack({
  ...{ name: "HTTP probes of host names that do not resolve", seconds: size(8, 30), effect: { runs: 2 } },
  pods: (bench) =>
    each(size(2, 4), (pod) => {
      const probe = (index: number): Fields => ({
        ...OFTEN,
        httpGet: { host: `${pod}-${index}.test.invalid`, port: 80 },
      });
      const containers = each(10, (one, index) => hostile(one, REST, { readinessProbe: probe(index) }), "c");
      return tenantPod(bench, pod, containers);
    }),
});

const logFloods = tenantAttack({
  ...{ name: "containers that write logs without pause", seconds: size(8, 30), effect: { runs: 2 } },
  pods: (bench) =>
    each(size(2, 6), (pod, index) => {
      const flood = index % 2 === 0 ? "yes flood" : "while true; do dd if=/dev/zero bs=1M count=4 2>/dev/null; done";
      return tenantPod(bench, pod, [hostile("app", flood)]);
    }),
});

const crashes = tenantAttack({
  ...{ name: "pods whose containers exit as soon as they start", seconds: size(6, 30), effect: { runs: size(6, 20) } },
  pods: (bench) => each(size(6, 20), (pod) => tenantPod(bench, pod, [hostile("app", "exit 1")])),
});

export const TENANT_LOAD = [forkBombs, sleepingProbes, endlessProbes, deadNames, logFloods, crashes];
