// @promise Configuration and manifests: The start-up log and --print-config name fields and gates that are set without
//   effect. For another component's gate they name the component.
// @with test/main/command/readers.test.ts

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { SettingsError } from "../../../src/main/command/errors.js";
import type { HostFacts } from "../../../src/main/command/rules/rule.js";
import { loadSettings, type CommandRequest, type Settings } from "../../../src/main/command/settings.js";
import { CONFIG_DIR, CONFIG_FILE, filesOf, HOST, ioOf } from "../../support/config-kit.js";

interface Bodies {
  file?: string;
  dropIns?: Record<string, string>;
  host?: HostFacts;
}

async function ask(argv: string[], { file, dropIns, host = HOST }: Bodies = {}): Promise<CommandRequest> {
  const args = [
    ...(file === undefined ? [] : [`--config=${CONFIG_FILE}`]),
    ...(dropIns === undefined ? [] : [`--config-dir=${CONFIG_DIR}`]),
    ...argv,
  ];
  return await loadSettings(args, ioOf(filesOf({ file, dropIns }), host));
}

async function load(argv: string[], bodies?: Bodies): Promise<Settings> {
  const request = await ask(argv, bodies);
  if (request.action !== "run") throw new Error(`expected to run, not: ${JSON.stringify(request)}`);
  return request.settings;
}

async function problemsOf(argv: string[], bodies?: Bodies): Promise<readonly string[]> {
  try {
    await load(argv, bodies);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe("precedence", () => {
  test("the default applies without file and flag", async () => equal((await load([])).resources.maxPods, 110));
  test("a file wins over the default", async () =>
    equal((await load([], { file: "maxPods: 5" })).resources.maxPods, 5));
  test("a drop-in wins over the file", async () =>
    equal((await load([], { file: "maxPods: 5", dropIns: { "a.conf": "maxPods: 6" } })).resources.maxPods, 6));
  test("a flag wins over file and drop-in", async () =>
    equal(
      (await load(["--max-pods=7"], { file: "maxPods: 5", dropIns: { "a.conf": "maxPods: 6" } })).resources.maxPods,
      7,
    ));
  test("a flag repairs the file's value", async () =>
    deepEqual(await problemsOf(["--read-only-port=0"], { file: "readOnlyPort: 70000" }), []));
});

describe("the read-only port is upstream's", () => {
  test("flags alone: 10255 on every address", async () => {
    const { address, readOnlyPort } = (await load([])).server;
    deepEqual([address, readOnlyPort], ["0.0.0.0", 10255]);
  });
  test("with a file: off", async () => equal((await load([], { file: "" })).server.readOnlyPort, 0));
});

describe("features that the node declares", () => {
  const declared = async (gates: string) =>
    (await load([], { file: `featureGates: {${gates}}` })).resources.declaredFeatures;
  const standard = [
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
  ];
  test("the node declares upstream's default features", async () => deepEqual(await declared(""), standard));
  test("exclusive CPUs are none of them", async () =>
    deepEqual(await declared("InPlacePodVerticalScalingExclusiveCPUs: true"), standard));
  test("those whose gate is on", async () =>
    deepEqual(await declared("ExtendWebSocketsToKubelet: false, UserNamespacesHostNetworkSupport: true"), [
      ...standard.slice(1),
      "UserNamespacesHostNetworkSupport",
    ]));
});

describe("members", () => {
  test("the image endpoint defaults to the runtime's", async () => {
    const settings = await load(["--container-runtime-endpoint=/run/x.sock"]);
    deepEqual(
      [settings.runtime.containerRuntimeEndpoint, settings.runtime.imageServiceEndpoint],
      ["unix:///run/x.sock", "unix:///run/x.sock"],
    );
  });
  test("the sync loop's limit follows --sync-frequency", async () => {
    equal((await load([])).sources.syncLoopMaxAgeMs, 300_000);
    equal((await load(["--sync-frequency=10m"])).sources.syncLoopMaxAgeMs, 1_200_000);
  });
  test("a flag's zero never makes a loop without rest", async () => {
    const zero = ["sync-frequency", "file-check-frequency", "http-check-frequency", "runtime-request-timeout"];
    const { sources, runtime } = await load(zero.map((flag) => `--${flag}=0`));
    deepEqual(
      [
        sources.syncFrequencyMs,
        sources.fileCheckFrequencyMs,
        sources.httpCheckFrequencyMs,
        runtime.runtimeRequestTimeoutMs,
      ],
      [60_000, 20_000, 20_000, 120_000],
    );
  });
  test("a negative pid limit means no limit", async () => {
    equal((await load([])).cgroups.cgroupRoot, "/");
    equal((await load(["--pod-max-pids=-5"])).cgroups.podPidsLimit, -1);
  });
  test("flags that mirror no field", async () => {
    const settings = await load([
      "--kubeconfig=/k",
      "--bootstrap-kubeconfig=/b",
      "--node-labels=a=b",
      "--node-ip=10.0.0.1,fd00::1",
      "--lock-file=/l",
      "--exit-on-lock-contention",
      "--runonce",
      "--dynamic-config-dir=/d",
      "--dynamic-config-sources=kube-system/a,kube-system/b-*",
    ]);
    deepEqual(
      [settings.kubeconfig, settings.bootstrapKubeconfig, settings.certDir, settings.rootDir],
      ["/k", "/b", "/var/lib/kubelet/pki", "/var/lib/kubelet"],
    );
    deepEqual([settings.nodeLabels, settings.nodeIPs], [{ a: "b" }, ["10.0.0.1", "fd00::1"]]);
    deepEqual(
      [settings.lockFile, settings.exitOnLockContention, settings.runOnce, settings.dynamicConfigDir],
      ["/l", true, true, "/d"],
    );
    deepEqual(settings.dynamicConfigSources, ["kube-system/a", "kube-system/b-*"]);
    deepEqual((await load([])).dynamicConfigSources, ["kube-system/nodelet-config"]);
    deepEqual((await load(["--dynamic-config-sources="])).dynamicConfigSources, []);
  });
  test("values that leave no way to be used are left out and named", async () => {
    const settings = await load([], { file: "clusterDNS: [10.0.0.10, nonsense, 010.096.0.010]\naddress: 127.0.00.1" });
    deepEqual(settings.network.clusterDNS, ["10.0.0.10", "10.96.0.10"]);
    deepEqual(settings.server.address, "127.0.0.1");
    match(settings.notices.join("\n"), /nonsense/);
  });
  test("a negative size of logs is none at which they are rotated", async () => {
    const sizeOf = async (file: string): Promise<number> =>
      (await load([], { file })).containerLogs.containerLogMaxSize;
    deepEqual(await sizeOf("containerLogMaxSize: '-1'"), Infinity);
    deepEqual(await sizeOf("containerLogMaxSize: 1Ki"), 1024);
  });
  test("every flag with its value, and which values are credentials", async () => {
    const { flags } = await load(["--manifest-url-header=b:2,a:hunter2"]);
    deepEqual(
      flags.filter(({ name, secret }) => secret === true || name === "max-pods"),
      [
        { name: "manifest-url-header", value: "a:hunter2,b:2", secret: true },
        { name: "max-pods", value: "110" },
      ],
    );
  });
  test("the version to report", async () => {
    equal((await load([])).kubernetesVersion, "v1.36.0");
    equal((await load(["--version=v1.36.0-vendor"])).kubernetesVersion, "v1.36.0-vendor");
  });
});

describe("problems", () => {
  test("of flags, file, drop-ins and values together, each with its place", async () => {
    deepEqual(
      await problemsOf(["--maxpods=1", "--address=here", "--kube-api-qps=-1"], {
        file: "maxPods: -1\ncgroupDriver: x\nfoo: 1",
        dropIns: { "a.conf": "oomScoreAdj: 2000" },
      }),
      [
        "unknown flag --maxpods; did you mean --max-pods?",
        '--address: "here" is not an IP address',
        "--kube-api-qps: -1 is not 0 or more",
        "/etc/k/c.yaml:3:10: maxPods: -1 is not 0 or more",
        '/etc/k/c.yaml:4:15: cgroupDriver: "x" is not cgroupfs or systemd',
        "/etc/k/c.yaml:5:1: foo: unknown field",
        "/etc/k/d/a.conf:3:14: oomScoreAdj: 2000 is not a number from -1000 to 1000",
      ],
    );
  });
  const refused: [string, RegExp][] = [
    ["--read-only-port=65536", /^--read-only-port: "65536" is not a port from 0 to 65535/],
    ["--node-ip=10.0.0.1,10.0.0.2", /^--node-ip: .*an IPv4 and an IPv6/],
    ["--node-labels=kubernetes.io/x=y", /^--node-labels: a node may not set its own label/],
    ["--exit-on-lock-contention", /^--exit-on-lock-contention: requires --lock-file/],
    ["--root-dir=relative", /^--root-dir: "relative" is not an absolute path/],
    ["--root-dir=/a/../b", /is not an absolute path/],
    ["--container-runtime-endpoint=tcp://1.2.3.4:5", /^--container-runtime-endpoint: /],
    ["--manifest-url=ftp://x", /^--manifest-url: "ftp:\/\/x" is not an http:\/\/ or https:\/\/ URL/],
    ["--file-check-frequency=-1s", /^--file-check-frequency: a duration cannot be negative/],
    ["--eviction-hard=memory.available<200%", /^--eviction-hard: evictionHard\[memory.available\]: /],
    ["--feature-gates=Nonsense=true", /^--feature-gates: featureGates\[Nonsense\]: /],
    ["--system-cgroups=/x", /^(--system-cgroups|cgroupRoot \(default\)): /],
    ["--container-runtime=rkt", /--container-runtime: "rkt" is not remote or docker/],
  ];
  for (const [flag, expected] of refused) {
    test(flag, async () => {
      const found = await problemsOf([flag]);
      equal(found.length, 1, found.join("\n"));
      match(found[0] ?? "", expected);
    });
  }
  describe("a start tolerates what upstream takes, and --check-config does not", () => {
    const tolerated: [name: string, flags: string[], file: string, problems: string[]][] = [
      ["an unknown field", [], "foo: 1\n", ["/etc/k/c.yaml:3:1: foo: unknown field"]],
      ["a field given twice", [], "maxPods: 3\nmaxPods: 4\n", ["/etc/k/c.yaml:4:1: maxPods: given twice"]],
      [
        "a second document",
        [],
        "maxPods: 4\n---\nkind: Pod\n",
        ["/etc/k/c.yaml:4:1: a second document, which is not read; a file must contain one KubeletConfiguration"],
      ],
      ["an address that is none", ["--node-ip=x"], "", ['--node-ip: "x" is not an IP address; it is ignored']],
      [
        "logs of no size",
        [],
        'containerLogMaxSize: "0"\n',
        ['/etc/k/c.yaml:3:22: containerLogMaxSize: "0" is not a quantity above 0: every log is rotated at each check'],
      ],
      [
        "an option of a topology manager that is off",
        [],
        "topologyManagerPolicyOptions: {max-allowable-numa-nodes: '1'}\n",
        [
          '/etc/k/c.yaml:3:58: topologyManagerPolicyOptions[max-allowable-numa-nodes]: "1" is not a whole number of at least 8',
        ],
      ],
    ];
    for (const [name, flags, file, expected] of tolerated) {
      test(name, async () => {
        deepEqual((await load(flags, { file })).warnings, expected);
        const checked = await ask(["--check-config", ...flags], { file });
        ok(checked.action === "check");
        deepEqual(checked.problems, expected);
      });
    }
    test("the values are those of upstream", async () => {
      const { nodeIPs, nodeLabels } = await load(["--node-ip=10.0.0.1,x,", "--node-labels=spot,zone=a,, c = d "]);
      deepEqual([nodeIPs, nodeLabels], [["10.0.0.1"], { spot: "", zone: "a", c: "d" }]);
      deepEqual((await load(["--node-ip=x"])).nodeIPs, []);
      equal((await load([], { file: "registryBurst: 3\nregistryBurst: 4\n" })).images.registryBurst, 4);
    });
    test("a problem of another kind refuses, and names all", async () => {
      deepEqual(await problemsOf(["--node-ip=x"], { file: "foo: 1\nmaxPods: -1\n" }), [
        '--node-ip: "x" is not an IP address; it is ignored',
        "/etc/k/c.yaml:3:1: foo: unknown field",
        "/etc/k/c.yaml:4:10: maxPods: -1 is not 0 or more",
      ]);
    });
  });
  test("an unreadable file is the only problem: no rule speaks of the defaults in its place", async () => {
    const host: HostFacts = { cgroupVersion: 1 };
    const missing = loadSettings(["--config=/none"], ioOf({}, host));
    await rejects(
      missing,
      (error) =>
        error instanceof SettingsError && /^--config: "\/none" cannot be read: ENOENT[^\n]*$/.test(error.message),
    );
  });
  test("a default that this machine can't have is reported as a default", async () => {
    const found = await problemsOf([], { host: { cgroupVersion: 1 } });
    match(found.join("\n"), /^failCgroupV1 \(default\): /);
    deepEqual(await problemsOf(["--fail-cgroupv1=false"], { host: { cgroupVersion: 1 } }), []);
  });
});

describe("notices", () => {
  test("name deprecated flags, and settings without effect", async () => {
    const { notices } = await load(["--max-pods=9", "--kube-api-burst=9"], {
      file: "kubeAPIQPS: 7\nport: 10250\nmaxPods: 9\nhairpinMode: none\nfeatureGates: { TaintTolerationComparisonOperators: true, PodsAPI: false, GangScheduling: true, GenericWorkload: true, ConcurrentWatchObjectDecode: true }\n",
    });
    deepEqual(notices, [
      "--max-pods is deprecated: set maxPods in the file given by --config",
      "--kube-api-burst is deprecated: set kubeAPIBurst in the file given by --config",
      "/etc/k/c.yaml: these fields have no effect in this kubelet: hairpinMode",
      "/etc/k/c.yaml: these feature gates have no effect in this kubelet: TaintTolerationComparisonOperators",
      "/etc/k/c.yaml: these feature gates concern other components, not this kubelet: GangScheduling (kube-scheduler), ConcurrentWatchObjectDecode (kube-apiserver)",
    ]);
  });
  test("name the gates without effect that AllAlpha sets, and none of other components", async () => {
    const { notices } = await load([], { file: "featureGates: { AllAlpha: true, PodsAPI: false }\n" });
    const [line = "", ...others] = notices;
    match(
      line,
      /^\/etc\/k\/c\.yaml: these feature gates have no effect in this kubelet: .*\bTaintTolerationComparisonOperators\b/,
    );
    ok(!line.includes("GangScheduling") && !line.includes("PodsAPI"), line);
    deepEqual(others, []);
  });
  test("are in the text of --print-config, as comments of YAML and as a list of JSON", async () => {
    const file = "featureGates: { TaintTolerationComparisonOperators: true, HPAScaleToZero: true }\n";
    const expected = [
      "/etc/k/c.yaml: these feature gates have no effect in this kubelet: TaintTolerationComparisonOperators",
      "/etc/k/c.yaml: these feature gates concern other components, not this kubelet: HPAScaleToZero (kube-controller-manager)",
    ];
    const yaml = await ask(["--print-config"], { file, host: { cgroupVersion: 1 } });
    const json = await ask(["--print-config=json"], { file, host: { cgroupVersion: 1 } });
    ok(yaml.action === "print" && json.action === "print");
    deepEqual(
      yaml.text.trimEnd().split("\n").slice(-2),
      expected.map((line) => `# ${line}`),
    );
    deepEqual((JSON.parse(json.text) as { notices: string[] }).notices, expected);
  });
});

describe("questions that are answered without a machine", () => {
  const host: HostFacts = { cgroupVersion: 1 };
  test("--check-config names the files that it read", async () => {
    const request = await ask(["--check-config"], { file: "", dropIns: { "a.conf": "" }, host });
    ok(request.action === "check");
    deepEqual([request.problems, request.files], [[], ["/etc/k/c.yaml", "/etc/k/d/a.conf"]]);
  });
  test("--check-config reports the problems of flags and file", async () => {
    const request = await ask(["--check-config", "--nonsense"], { file: "maxPods: -1\n", host });
    ok(request.action === "print" && request.exitCode === 1);
    match(request.text, /^unknown flag --nonsense.*\n\/etc\/k\/c.yaml:3:10: maxPods: .*\n$/);
  });
  test("--print-config shows each value with its origin", async () => {
    const yaml = await ask(["--print-config"], { file: "maxPods: 3\n", host });
    ok(yaml.action === "print" && yaml.exitCode === 0);
    match(yaml.text, /^maxPods: 3 {2}# \/etc\/k\/c.yaml:3:10$/m);
    const json = await ask(["--print-config=json"], { file: "maxPods: 3\n", host });
    ok(json.action === "print" && json.exitCode === 0);
    equal((JSON.parse(json.text) as { config: { maxPods: number } }).config.maxPods, 3);
    const bad = await ask(["--print-config"], { file: "maxPods: x\n", host });
    ok(bad.action === "print" && bad.exitCode === 1);
  });
  test("--help and --version win over every mistake", async () => {
    deepEqual(await ask(["--version", "--nonsense", "--config=/none"]), {
      action: "print",
      text: "Kubernetes v1.36.0\n",
      exitCode: 0,
    });
    const help = await ask(["--nonsense", "--help"]);
    ok(help.action === "print" && help.exitCode === 0);
    match(help.text, /--max-pods/);
  });
});

describe("restarts", () => {
  const PERIOD = "crashLoopBackOff: { maxContainerRestartPeriod: 42s }";
  const QUICK = "--feature-gates=ReduceDefaultCrashLoopBackOffDecay=true";
  const rows: [string, string[], string, { baseMs: number; maxMs: number }][] = [
    ["default", [], "", { baseMs: 10_000, maxMs: 300_000 }],
    ["a period", [], PERIOD, { baseMs: 10_000, maxMs: 42_000 }],
    ["a period below the first step", [], PERIOD.replace("42s", "2s"), { baseMs: 2000, maxMs: 2000 }],
    ["the quick gate", [QUICK], "", { baseMs: 1000, maxMs: 60_000 }],
    ["the quick gate and a period", [QUICK], PERIOD.replace("42s", "5m"), { baseMs: 1000, maxMs: 300_000 }],
    ["no period allowed", ["--feature-gates=KubeletCrashLoopBackOffMax=false"], "", { baseMs: 10_000, maxMs: 300_000 }],
  ];
  for (const [name, argv, file, expected] of rows) {
    test(`back-off: ${name}`, async () => deepEqual((await load(argv, { file })).runtime.crashLoopBackOff, expected));
  }
  test("a period is acted on", async () => {
    const { notices } = await load([], { file: PERIOD });
    ok(!notices.some((notice) => notice.includes("no effect")), notices.join());
  });
  test("restart rules follow their feature gates", async () => {
    deepEqual((await load([])).runtime.restartGates, { containerRestartRules: true, restartAllContainers: true });
    const off = await load(["--feature-gates=RestartAllContainersOnContainerExits=false"]);
    deepEqual(off.runtime.restartGates, { containerRestartRules: true, restartAllContainers: false });
  });
});
