import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { flagValues, readCommandLine } from "../../../src/main/command/command-line.js";
import { flagsOf } from "../../../src/main/command/flags/table.js";

const values = (argv: string[]): Record<string, unknown> =>
  Object.fromEntries([...readCommandLine(argv).given].map(([name, { value }]) => [name, value]));

describe("flags as pflag reads them", () => {
  const table: [string[], Record<string, unknown>][] = [
    [["--max-pods=5"], { "max-pods": 5 }],
    [["--max-pods", "5"], { "max-pods": 5 }],
    [["--max_pods=5"], { "max-pods": 5 }],
    [["--max_pods", "5"], { "max-pods": 5 }],
    [["--max-pods=5", "--max-pods=6"], { "max-pods": 6 }],
    [["--pod-max-pids", "-1"], { "pod-max-pids": -1 }],
    [["--kubeconfig", "--config=x"], { kubeconfig: "--config=x" }],
    [["--seccomp-default", "--max-pods", "5"], { "seccomp-default": true, "max-pods": 5 }],
    [["--cgroups-per-qos=false"], { "cgroups-per-qos": false }],
    [["--fail-swap-on=F"], { "fail-swap-on": false }],
    [["-v2"], { v: 2 }],
    [["-v=2"], { v: 2 }],
    [["-v", "2"], { v: 2 }],
    [["--v=2"], { v: 2 }],
    [["--v", "2"], { v: 2 }],
    [["-hv2"], { v: 2 }],
    [["--sync-frequency=1m30s"], { "sync-frequency": 90_000 }],
    [
      ["--cluster-dns=10.0.0.1,10.0.0.2", "--cluster-dns=10.0.0.3"],
      { "cluster-dns": ["10.0.0.1", "10.0.0.2", "10.0.0.3"] },
    ],
    [["--resolv-conf="], { "resolv-conf": "" }],
    [["--resolv-conf", ""], { "resolv-conf": "" }],
    [["--address="], {}],
    [["--address=010.0.0.1"], { address: "10.0.0.1" }],
    [["--max-open-files=9223372036854775807"], { "max-open-files": Number.MAX_SAFE_INTEGER }],
    [["--pod-max-pids=-9223372036854775808"], { "pod-max-pids": Number.MIN_SAFE_INTEGER }],
    [["--node-ip=10.0.0.1, ::1"], { "node-ip": "10.0.0.1,::1" }],
    [
      ["--manifest-url-header=a:1:2,b:3", "--manifest-url-header=a:4"],
      { "manifest-url-header": { a: ["1:2", "4"], b: ["3"] } },
    ],
    [
      ["--eviction-hard=memory.available<100Mi,nodefs.available<10%"],
      { "eviction-hard": { "memory.available": "100Mi", "nodefs.available": "10%" } },
    ],
    [
      ["--cpu-manager-policy-options=a=1,2", "--cpu-manager-policy-options=b=3"],
      { "cpu-manager-policy-options": { a: "1,2", b: "3" } },
    ],
    [["--feature-gates=A=true,B=false", "--feature-gates=A=false"], { "feature-gates": { A: false, B: false } }],
    [["--register-with-taints=a:NoSchedule", "--register-with-taints="], { "register-with-taints": [] }],
    [
      ["--reserved-memory=0:memory=1Gi", "--reserved-memory=1:memory=2Gi"],
      {
        "reserved-memory": [
          { numaNode: 0, limits: { memory: "1Gi" } },
          { numaNode: 1, limits: { memory: "2Gi" } },
        ],
      },
    ],
    [["--print-config"], { "print-config": "yaml" }],
    [["--print-config=json"], { "print-config": "json" }],
    [["--check-config"], { "check-config": true }],
    [["--dynamic-config-dir=/x"], { "dynamic-config-dir": "/x" }],
    [["--max-pods=5", "--"], { "max-pods": 5 }],
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
    [["--zzzzzzzz"], ["unknown flag --zzzzzzzz; see --help for all flags"]],
    [["-max-pods=3"], ["unknown flag -max-pods; did you mean --max-pods?"]],
    [["-version"], ["unknown flag -version; did you mean --version?"]],
    [["-help"], ["unknown flag -help; did you mean --help?"]],
    [["-manifest-url-header=a:secret"], ["unknown flag -manifest-url-header; did you mean --manifest-url-header?"]],
    [["--manifest-url-heade=a:secret"], ["unknown flag --manifest-url-heade; did you mean --manifest-url-header?"]],
    [
      [`--max-pods=${"9".repeat(200)}`],
      [`--max-pods: "${"9".repeat(100)}…" is not a whole number from -2147483648 to 2147483647`],
    ],
    [["-x"], ["unknown flag -x; see --help for all flags"]],
    [["-v="], ['-v: "=" is not a whole number from 0 to 2147483647']],
    [["-v"], ["-v needs a value: a whole number from 0 to 2147483647"]],
    [["---max-pods"], ['"---max-pods" is not a flag; write --name or --name=value']],
    [["--=5"], ['"--=5" is not a flag; write --name or --name=value']],
    [["--constructor"], ["unknown flag --constructor; see --help for all flags"]],
    [["--max-pods=x"], ['--max-pods: "x" is not a whole number from -2147483648 to 2147483647']],
    [["--max-pods=2147483648"], ['--max-pods: "2147483648" is not a whole number from -2147483648 to 2147483647']],
    [["--max-pods"], ["--max-pods needs a value: a whole number from -2147483648 to 2147483647"]],
    [["--seccomp-default=maybe"], ['--seccomp-default: "maybe" is not true or false']],
    [["--port=65536"], ['--port: "65536" is not a port from 0 to 65535']],
    [["--address=fe80::1%eth0"], ['--address: "fe80::1%eth0" is not an IP address']],
    [
      ["--manifest-url-header=secret"],
      ["--manifest-url-header: the value is not name:value pairs separated by commas"],
    ],
    [["--max-pods=x", "--max-pods=x"], ['--max-pods: "x" is not a whole number from -2147483648 to 2147483647']],
    [["run"], ['unknown command "run": the kubelet accepts only flags; see --help']],
    [["--", "run"], ['unknown command "run": the kubelet accepts only flags; see --help']],
    [[""], ['unknown command "": the kubelet accepts only flags; see --help']],
    [["-"], ['unknown command "-": the kubelet accepts only flags; see --help']],
    [["--fail-swap-on", "false"], ['unknown command "false": write --fail-swap-on=false']],
  ];
  for (const [argv, expected] of table) {
    test(argv.join(" "), () => deepEqual(readCommandLine(argv).problems, expected));
  }

  test("all of them come back", () => equal(readCommandLine(["--aaaaaa", "--max-pods=x", "b"]).problems.length, 3));

  test("a removed flag's value does not count as a command, nor does the argument after one without value", () => {
    equal(readCommandLine(["--network-plugin-mtu", "1400"]).problems.length, 1);
    equal(readCommandLine(["--allow-privileged", "cni"]).problems.length, 2);
  });
});

describe("node addresses", () => {
  // The rules judge how many there are, and which (settings.test.ts).
  for (const [text, value] of [
    ["", ""],
    ["010.0.0.01", "10.0.0.1"],
    ["FD00::00A", "fd00::a"],
    ["0:0:0:0:0:0:0:0", "::"],
    ["::0.0.0.0", "::"],
    ["::ffff:10.0.0.1", "10.0.0.1"],
    ["::FFFF:a00:1, fd00:0::1", "10.0.0.1,fd00::1"],
    ["fd00::1, 10.0.0.1", "fd00::1,10.0.0.1"],
    ["10.0.0.1,", "10.0.0.1,"],
    ["x", "x"],
  ] as const) {
    test(text, () => {
      const { given, problems } = readCommandLine([`--node-ip=${text}`]);
      deepEqual([given.get("node-ip")?.value, problems], [value, []]);
    });
  }
});

test("--help and --version are read with and without values", () => {
  equal(readCommandLine(["--max-pods=3", "--help"]).help, true);
  equal(readCommandLine(["-h"]).help, true);
  equal(readCommandLine(["--help=false"]).help, false);
  equal(readCommandLine(["--version"]).version, "true");
  equal(readCommandLine(["--version=1"]).version, "true");
  equal(readCommandLine(["--version=raw"]).version, "raw");
  equal(readCommandLine(["--version=false"]).version, undefined);
  equal(readCommandLine(["--version", "--version=false"]).version, undefined);
});

test("another version is reported only when it is ours with a suffix", () => {
  const line = readCommandLine(["--version=v1.36.0-vendor.1"]);
  deepEqual([line.version, line.reportedVersion, line.problems], [undefined, "v1.36.0-vendor.1", []]);
  for (const text of ["v1.35.0", "v1.36.01", "v2.0.0"]) {
    deepEqual(readCommandLine([`--version=${text}`]).problems, [
      `--version: "${text}" cannot be reported: it must be v1.36.0, or more, as v1.36.0-name`,
    ]);
  }
  equal(readCommandLine(["--version=v1"]).problems.length, 1);
});

test("deprecated flags are named once each, with their replacement", () => {
  deepEqual(readCommandLine(["--max-pods=1", "--max-pods=2", "--boot-id-file=x", "--config=y"]).deprecations, [
    "--max-pods is deprecated: set maxPods in the file given by --config",
    "--boot-id-file is deprecated: remove it: this kubelet has no cAdvisor",
  ]);
});

test("Windows' flags are known there only", () => {
  deepEqual(readCommandLine(["--windows-service"], "win32").problems, []);
  equal(readCommandLine(["--windows-service"], "linux").problems.length, 1);
});

describe("values for the log", () => {
  const shown = (argv: string[]): Map<string, string> =>
    new Map(flagValues(readCommandLine(argv, "linux"), "linux").map(({ name, value }) => [name, value]));

  test("every flag is there, in order, with its default", () => {
    const all = [...shown([])];
    equal(all.length, flagsOf("linux").byName.size);
    deepEqual(
      all.map(([name]) => name),
      all.map(([name]) => name).sort(),
    );
    const some = new Map(all);
    equal(some.get("address"), "0.0.0.0");
    equal(some.get("enforce-node-allocatable"), "[pods]");
    equal(some.get("version"), "false");
  });
  test("given values stand as they would be written", () => {
    const some = shown([
      "--sync-frequency=90s",
      "--eviction-hard=b<2,a<1",
      "--cluster-dns=1.1.1.1",
      "--kube-reserved=a=1",
    ]);
    equal(some.get("sync-frequency"), "1m30s");
    equal(some.get("eviction-hard"), "a<1,b<2");
    equal(some.get("cluster-dns"), "[1.1.1.1]");
    equal(some.get("kube-reserved"), "a=1");
  });
  test("given credentials are marked", () => {
    const line = readCommandLine(["--manifest-url-header=k:hush", "--storage-driver-password=hush"], "linux");
    const marked = flagValues(line, "linux").filter(({ secret }) => secret === true);
    deepEqual(
      marked.map(({ name }) => name),
      ["manifest-url-header", "storage-driver-password"],
    );
    deepEqual(
      flagValues(readCommandLine([], "linux"), "linux").filter(({ secret }) => secret === true),
      [],
    );
  });
});

test("no command line makes the reader throw", () => {
  const names = [...flagsOf("linux").byName.keys(), "docker", "constructor", "__proto__", "toString", "maxpods"];
  const sample = [
    "",
    "true",
    "5",
    "-1",
    "1m",
    "a=b",
    "a<b",
    "a:b",
    "0:memory=1Gi",
    "a=b:NoSchedule",
    "1.2.3.4",
    "raw",
    ",",
    '"',
  ];
  const name = fc.constantFrom(...names).map((text) => `--${text}`);
  const value = fc.oneof(fc.constantFrom(...sample), fc.string({ maxLength: 8 }));
  const arg = fc.oneof(
    name,
    fc.tuple(name, value).map(([a, b]) => `${a}=${b}`),
    value,
    value.map((text) => `-${text}`),
  );
  let read = 0;
  fc.assert(
    fc.property(fc.array(arg, { maxLength: 6 }), (argv) => {
      const line = readCommandLine(argv, "linux");
      flagValuesSometimes(line, read++);
      // Values that were read are returned; the error names the others.
      return [...line.given.keys()].every((key) => flagsOf("linux").byName.has(key)) && !line.problems.includes("");
    }),
    { numRuns: 100_000 },
  );
  equal(read, 100_000);
});

/** Printing every flag is slow; one in a hundred lines is enough to meet every kind of value. */
function flagValuesSometimes(line: ReturnType<typeof readCommandLine>, turn: number): void {
  if (turn % 100 === 0) ok(flagValues(line, "linux").every(({ value }) => typeof value === "string"));
}
