import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { readCommandLine } from "../../../src/main/command/command-line.js";

const values = (argv: string[]): Record<string, unknown> =>
  Object.fromEntries([...readCommandLine(argv).given].map(([name, { value }]) => [name, value]));

describe("flags as pflag reads them", () => {
  const table: [string[], Record<string, unknown>][] = [
    [["--max-pods=5"], { maxPods: 5 }],
    [["--max-pods", "5"], { maxPods: 5 }],
    [["--max_pods=5"], { maxPods: 5 }],
    [["--max-pods=5", "--max-pods=6"], { maxPods: 6 }],
    [["--pod-max-pids", "-1"], { podPidsLimit: -1 }],
    [["--seccomp-default", "--max-pods", "5"], { seccompDefault: true, maxPods: 5 }],
    [["--cgroups-per-qos=false"], { cgroupsPerQOS: false }],
    [["-v2"], { verbosity: 2 }],
    [["-v=2"], { verbosity: 2 }],
    [["-v", "2"], { verbosity: 2 }],
    [["--v=2"], { verbosity: 2 }],
    [["--sync-frequency=1m30s"], { syncFrequencyMs: 90_000 }],
    [
      ["--cluster-dns=10.0.0.1,10.0.0.2", "--cluster-dns=10.0.0.3"],
      { clusterDNS: ["10.0.0.1", "10.0.0.2", "10.0.0.3"] },
    ],
    [["--resolv-conf="], { resolvConf: "" }],
    [
      ["--manifest-url-header=a:1:2,b:3", "--manifest-url-header=a:4"],
      { staticPodURLHeader: { a: ["1:2", "4"], b: ["3"] } },
    ],
  ];
  for (const [argv, expected] of table) {
    test(argv.join(" "), () => {
      deepEqual(values(argv), expected);
      deepEqual(readCommandLine(argv).problems, []);
    });
  }
});

describe("mistakes", () => {
  const table: [string[], string[]][] = [
    [["--max-pod=5"], ["unknown flag --max-pod; did you mean --max-pods?"]],
    [["--max-pod", "5"], ["unknown flag --max-pod; did you mean --max-pods?"]],
    [["--zzzzzzzz"], ["unknown flag --zzzzzzzz; --help lists the known ones"]],
    [["-max-pods=3"], ["unknown flag -max-pods=3; did you mean --max-pods?"]],
    [["--max-pods=x"], ['--max-pods: "x" is not a whole number from -2147483648 to 2147483647']],
    [["--max-pods=2147483648"], ['--max-pods: "2147483648" is not a whole number from -2147483648 to 2147483647']],
    [["--max-pods"], ["--max-pods needs a value: a whole number from -2147483648 to 2147483647"]],
    [["--seccomp-default=maybe"], ['--seccomp-default: "maybe" is not true or false']],
    [["run"], ['unknown command "run": the kubelet takes flags only, see --help']],
    [["--", "run"], ['unknown command "run": the kubelet takes flags only, see --help']],
  ];
  for (const [argv, expected] of table) {
    test(argv.join(" "), () => deepEqual(readCommandLine(argv).problems, expected));
  }

  test("all of them come back", () => equal(readCommandLine(["--aaaaaa", "--max-pods=x", "b"]).problems.length, 3));
});

test("help and version", () => {
  equal(readCommandLine(["--max-pods=3", "--help"]).help, true);
  equal(readCommandLine(["-h"]).help, true);
  equal(readCommandLine(["--version"]).version, "true");
  equal(readCommandLine(["--version=raw"]).version, "raw");
  equal(readCommandLine(["--version=false"]).version, undefined);
});
