// Whatever stands in the files, the kubelet answers with problems or with settings and never with a crash.
// CONFIG_FUZZ_RUNS=100000 makes the long run (about a minute of CPU time); the number below fits into every unit run.

import { ok } from "node:assert/strict";
import { test } from "node:test";
import { printYaml } from "../../../../src/main/command/config/print.js";
import { readConfig } from "../../../../src/main/command/config/read-config.js";
import { FIELD_ROWS } from "../../../../src/main/command/config/shape.js";
import { HEAD, resolveSources } from "../../../support/config-kit.js";

const RUNS = Number(process.env["CONFIG_FUZZ_RUNS"] ?? 4_000);
/** Every so many inputs go all the way: merge, defaults, rules, print. */
const WHOLE_EVERY = 10;

const VALID = `maxPods: 7
staticPodURLHeader: {Authorization: [a, b]}
featureGates: {AllAlpha: false, NodeSwap: true}
clusterDNS: &dns [10.0.0.10, "fd00::a"]
evictionHard: &hard {memory.available: 5%, nodefs.available: 1Gi}
evictionSoft:
  <<: *hard
evictionSoftGracePeriod: {memory.available: 1m30s, nodefs.available: 5s}
registerWithTaints:
- {key: a, value: b, effect: NoSchedule}
reservedMemory:
- numaNode: 0
  limits: {memory: 1Gi}
shutdownGracePeriodByPodPriority:
- {priority: 1, shutdownGracePeriodSeconds: 10}
logging: {flushFrequency: 5000000000, verbosity: 2, vmodule: [{filePattern: sync*, verbosity: 4}]}
tracing: {endpoint: localhost:4317, samplingRatePerMillion: 5}
userNamespaces: {idsPerPod: 65536}
memorySwap: {swapBehavior: LimitedSwap}
syncFrequency: 90s
imageGCHighThresholdPercent: 90
reservedSystemCPUs: 0-1
tlsCipherSuites: [TLS_AES_128_GCM_SHA256]
containerLogMaxSize: 10Mi
showHiddenMetricsForVersion: ""
crashLoopBackOff:
  maxContainerRestartPeriod: 10s
`;

const TOKENS = [
  ...[
    ":",
    " ",
    "\n",
    "- ",
    "{",
    "}",
    "[",
    "]",
    ",",
    "\t",
    "|",
    "? ",
    "&a ",
    "*a",
    "*hard",
    "<<: ",
    "!!x ",
    "!!binary ",
    '"',
    "'",
  ],
  ...[
    "1",
    "-1",
    "0",
    "1e400",
    ".inf",
    ".nan",
    "0x",
    "9223372036854775808",
    "null",
    "~",
    "true",
    "no",
    "0s",
    "-5s",
    "1h",
    "5%",
  ],
  ...[
    "\u0000",
    "\uD800",
    "\u2028",
    "\uFEFF",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "# ",
    "__proto__: 1\n",
    "constructor: {}\n",
  ],
  ...["128974848", "1Ei", "100000000000000000000Ei", "-1Gi", "0-4000000000", "::", "unix://", "[".repeat(60)],
  ...FIELD_ROWS.map(([path]) => `${path.split(".").join(": {")}: `),
];

/** A small generator with a seed (xorshift32), so that a failure can be run again. */
function randomOf(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Top-level entries of VALID; some of them make a configuration, mostly a valid one. */
const ENTRIES = VALID.split(/\n(?=[a-zA-Z])/);

function mutated(random: (below: number) => number): string {
  let result = ENTRIES.filter(() => random(4) === 0).join("\n") + "\n";
  for (let times = 1 + random(6); times > 0; times--) {
    const from = random(result.length + 1);
    const to = Math.min(result.length, from + random(12));
    const token = TOKENS[random(TOKENS.length)] ?? "";
    const other = random(result.length + 1);
    switch (random(5)) {
      case 0:
        result = result.slice(0, from) + result.slice(to);
        break;
      case 1:
        result = result.slice(0, from) + token + result.slice(from);
        break;
      case 2:
        result = result.slice(0, from) + token + result.slice(to);
        break;
      case 3:
        result = result.slice(0, from) + result.slice(other, other + 40) + result.slice(from);
        break;
      default:
        // A value replaced where a value stands: more of these get past the parser.
        result = result.replace(/: [^:\n]*\n/, `: ${token.trim()}\n`);
    }
  }
  return result;
}

test(`no configuration makes the kubelet crash (${RUNS} inputs)`, async () => {
  let accepted = 0;
  for (let seed = 1; seed <= RUNS; seed++) {
    const random = randomOf(Math.imul(seed, 0x9e3779b1));
    const body = mutated(random);
    try {
      if (seed % WHOLE_EVERY === 0) {
        const dropIns = { "a.conf": mutated(random) };
        const { config, problems } = await resolveSources({ file: body, dropIns });
        if (problems.length === 0) accepted += 1;
        printYaml(config);
      } else if (readConfig(HEAD + body, "f").problems.length === 0) accepted += 1;
    } catch (error) {
      throw new Error(`seed ${seed}: ${JSON.stringify(body)}`, { cause: error });
    }
  }
  // Inputs that are all refused at the door would show nothing.
  ok(accepted > RUNS / 100, `${accepted} accepted`);
});
