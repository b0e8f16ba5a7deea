// Examples for what pods meet: shutdown, back-off, eviction, logs; and for the kubelet's log, traces, TLS and flags.

import type { Claims, Refused, Situation } from "../example.js";

const TOTAL = "shutdownGracePeriod";
const CRITICAL = "shutdownGracePeriodCriticalPods";
const BY_PRIORITY = "shutdownGracePeriodByPodPriority";
const CRASH = "crashLoopBackOff.maxContainerRestartPeriod";
const byPriority = { [BY_PRIORITY]: [{ priority: 0, shutdownGracePeriodSeconds: 10 }] };
const noCrash = { KubeletCrashLoopBackOffMax: false };
const crash = (period: number): Situation => ({ [CRASH]: period });
const tooLong = "2147483648 is not a verbosity";
const vmodule = (filePattern: string, verbosity = 4): Situation => ({
  "logging.vmodule": [{ filePattern, verbosity }],
});
const hard = (text: string, signal = "memory.available"): Situation => ({ evictionHard: { [signal]: text } });
const badHard = (text: string, says: string): Refused => [hard(text), "evictionHard[memory.available]", says];
const reclaim = (text: string): Situation => ({ evictionMinimumReclaim: { "memory.available": text } });
const soft = (grace: string): Situation => ({
  evictionSoft: { "nodefs.available": "20%" },
  evictionSoftGracePeriod: { "nodefs.available": grace },
});
const label = (key: string, value = ""): Situation => ({ flags: { nodeLabels: { [key]: value } } });
const nodeIP = (text: string, cloudProvider = ""): Situation => ({ flags: { nodeIP: text, cloudProvider } });

function alphaOptions(format: "text" | "json"): Claims {
  const split = `logging.options.${format}.splitStream` as const;
  const buffer = `logging.options.${format}.infoBufferSize` as const;
  const gates = { LoggingAlphaOptions: true };
  return {
    [`${split} | true while gate off`]: {
      bad: [[{ [split]: true }, split, "LoggingAlphaOptions"]],
      good: [{ [split]: true, gates }, { [split]: false }],
    },
    [`${buffer} | non-zero while gate off`]: {
      bad: [
        [{ [buffer]: "1Ki" }, buffer, "LoggingAlphaOptions"],
        [{ [buffer]: "big", gates }, buffer, '"big" is not a quantity'],
      ],
      good: [{ [buffer]: "1Ki", gates }, { [buffer]: "0" }, { [buffer]: "0Ki" }],
    },
  };
}

export const PODS: Claims = {
  "shutdownGracePeriodCriticalPods, shutdownGracePeriod | critical > total": {
    bad: [[{ [TOTAL]: 1000, [CRITICAL]: 2000 }, CRITICAL, "2s is longer than shutdownGracePeriod, which is 1s"]],
    good: [{ [TOTAL]: 1000, [CRITICAL]: 1000 }],
  },
  "shutdownGracePeriod | negative, or above 0 but below 1s": {
    bad: [
      [{ [TOTAL]: 999 }, TOTAL, "999ms is not 0 (off) or a duration of at least 1s"],
      [{ [TOTAL]: -1000 }, [TOTAL, CRITICAL], "-1s is not 0"],
    ],
    good: [{ [TOTAL]: 0 }, { [TOTAL]: 1000 }],
  },
  "shutdownGracePeriodCriticalPods | negative, or above 0 but below 1s": {
    bad: [
      [{ [TOTAL]: 5000, [CRITICAL]: 999 }, CRITICAL, "999ms is not 0 (off) or a duration of at least 1s"],
      [{ [TOTAL]: 5000, [CRITICAL]: -1 }, CRITICAL, "-1ms is not 0"],
    ],
    good: [
      { [TOTAL]: 5000, [CRITICAL]: 0 },
      { [TOTAL]: 5000, [CRITICAL]: 1000 },
    ],
  },
  "shutdownGracePeriod, shutdownGracePeriodCriticalPods | either > 0 while gate off": {
    bad: [
      [{ [TOTAL]: 5000, gates: { GracefulNodeShutdown: false } }, TOTAL, "gate GracefulNodeShutdown"],
      [{ [CRITICAL]: 5000, gates: { GracefulNodeShutdown: false } }, CRITICAL, "gate GracefulNodeShutdown"],
    ],
    good: [{ gates: { GracefulNodeShutdown: false } }, { [TOTAL]: 5000, [CRITICAL]: 5000 }],
  },
  "shutdownGracePeriodByPodPriority, shutdownGracePeriod, shutdownGracePeriodCriticalPods | list non-empty and either period > 0":
    {
      bad: [[{ ...byPriority, [TOTAL]: 5000 }, BY_PRIORITY, "cannot be combined"]],
      good: [byPriority, { [BY_PRIORITY]: [], [TOTAL]: 5000 }],
    },
  "shutdownGracePeriodByPodPriority | non-empty while gate off": {
    bad: [
      [
        { ...byPriority, gates: { GracefulNodeShutdownBasedOnPodPriority: false } },
        BY_PRIORITY,
        "requires the feature",
      ],
    ],
    good: [{ [BY_PRIORITY]: [], gates: { GracefulNodeShutdownBasedOnPodPriority: false } }],
  },
  "crashLoopBackOff.maxContainerRestartPeriod | nil after defaulting": {
    bad: [[{ [CRASH]: undefined }, CRASH, "is empty"]],
    good: [{}],
  },
  "crashLoopBackOff.maxContainerRestartPeriod | outside range (compared in whole milliseconds)": {
    bad: [
      [crash(999.9), CRASH, "is not a duration from 1s to 300s"],
      [crash(300_001), CRASH, "is not a duration from 1s to 300s"],
    ],
    good: [crash(1000), crash(300_000.9)],
  },
  "crashLoopBackOff.maxContainerRestartPeriod | set while gate off": {
    bad: [[{ ...crash(1000), gates: noCrash }, CRASH, "gate KubeletCrashLoopBackOffMax"]],
    good: [{ gates: noCrash }],
  },
  "logging.flushFrequency | <= 0": {
    bad: [
      [{ "logging.flushFrequency": 0 }, "logging.flushFrequency", "0s is not a duration above 0"],
      [{ "logging.flushFrequency": -1000 }, "logging.flushFrequency", "-1s"],
    ],
    good: [{ "logging.flushFrequency": 1 }],
  },
  "logging.format | not registered": {
    bad: [[{ "logging.format": "xml" }, "logging.format", '"xml" is not text or json']],
    good: [{ "logging.format": "text" }, { "logging.format": "json" }],
  },
  "logging.format | json while gate off": {
    bad: [[{ "logging.format": "json", gates: { LoggingBetaOptions: false } }, "logging.format", "LoggingBetaOptions"]],
    good: [{ "logging.format": "text", gates: { LoggingBetaOptions: false } }],
  },
  "logging.verbosity | above int32 maximum": {
    bad: [[{ "logging.verbosity": 2_147_483_648 }, "logging.verbosity", tooLong]],
    good: [{ "logging.verbosity": 2_147_483_647 }],
  },
  "logging.vmodule | non-empty with a format other than text": {
    bad: [[{ ...vmodule("plan*"), "logging.format": "json" }, "logging.vmodule", "only with logging.format: text"]],
    good: [vmodule("plan*"), { "logging.vmodule": [], "logging.format": "json" }],
  },
  "logging.vmodule[].filePattern | empty, or holds = or ,": {
    bad: [
      [vmodule(""), "logging.vmodule[0].filePattern", "is empty"],
      [vmodule("a=b"), "logging.vmodule[0].filePattern", '"a=b"'],
      [vmodule("a,b"), "logging.vmodule[0].filePattern", '"a,b"'],
    ],
    good: [vmodule("*")],
  },
  "logging.vmodule[].verbosity | above int32 maximum": {
    bad: [[vmodule("a", 2_147_483_648), "logging.vmodule[0].verbosity", tooLong]],
    good: [vmodule("a", 2_147_483_647)],
  },
  ...alphaOptions("text"),
  ...alphaOptions("json"),
  "tracing.samplingRatePerMillion | outside range": {
    bad: [
      [
        { "tracing.samplingRatePerMillion": -1 },
        "tracing.samplingRatePerMillion",
        "-1 is not a number from 0 to 1000000",
      ],
      [{ "tracing.samplingRatePerMillion": 1_000_001 }, "tracing.samplingRatePerMillion", "1000001"],
    ],
    good: [{ "tracing.samplingRatePerMillion": 0 }, { "tracing.samplingRatePerMillion": 1_000_000 }],
  },
  "tracing.endpoint | not a URL, or scheme other than dns, unix, unix-abstract (no // means dns)": {
    bad: ["http://localhost:4317", "local host:4317", "localhost:port", "ipv4://127.0.0.1"].map((text) => [
      { "tracing.endpoint": text },
      "tracing.endpoint",
      `"${text}" is not host:port`,
    ]),
    good: [
      "localhost:4317",
      "[::1]:4317",
      "dns://localhost:4317",
      "unix:///run/otel.sock",
      "unix-abstract:///otel",
    ].map((text) => ({ "tracing.endpoint": text })),
  },
  "containerLogMaxWorkers | < 1": {
    bad: [[{ containerLogMaxWorkers: 0 }, "containerLogMaxWorkers", "0 is not 1 or more"]],
    good: [{ containerLogMaxWorkers: 1 }],
  },
  "containerLogMonitorInterval | below 3s": {
    bad: [[{ containerLogMonitorInterval: 2999 }, "containerLogMonitorInterval", "is not a duration of at least 3s"]],
    good: [{ containerLogMonitorInterval: 3000 }],
  },
  "containerLogMaxFiles | <= 1": {
    bad: [[{ containerLogMaxFiles: 1 }, "containerLogMaxFiles", "1 is not 2 or more"]],
    good: [{ containerLogMaxFiles: 2 }],
  },
  "podLogsDir | empty": { bad: [[{ podLogsDir: "" }, "podLogsDir", "is empty"]], good: [{ podLogsDir: "/" }] },
  "podLogsDir | not absolute": {
    bad: [[{ podLogsDir: "var/log" }, "podLogsDir", "is not an absolute path"]],
    good: [{ podLogsDir: "/var/log" }],
  },
  "podLogsDir | not normalized (differs from its cleaned form)": {
    bad: ["/var//log", "/var/./log", "/var/../log", "/var/log/", "/var/log/.."].map((podLogsDir) => [
      { podLogsDir },
      "podLogsDir",
      "is not a normalized path",
    ]),
    good: [{ podLogsDir: "/var/..log" }],
  },
  "podLogsDir | has a non-ASCII character": {
    bad: [[{ podLogsDir: "/var/lög" }, "podLogsDir", "contains a character that is not ASCII"]],
    good: [{ podLogsDir: "/var/a b" }],
  },
  "containerLogMaxSize | not a quantity, or <= 0": {
    bad: [
      [{ containerLogMaxSize: "10 MB" }, "containerLogMaxSize", '"10 MB" is not a quantity such as'],
      [{ containerLogMaxSize: "0" }, "containerLogMaxSize", '"0" is not a quantity above 0'],
      [{ containerLogMaxSize: "1.5" }, "containerLogMaxSize", '"1.5" is not a whole number of bytes'],
      [{ containerLogMaxSize: "-500m" }, "containerLogMaxSize", "whole number of bytes"],
    ],
    good: [{ containerLogMaxSize: "1" }, { containerLogMaxSize: "-1" }, { containerLogMaxSize: "-1Mi" }],
  },
  "evictionHard, evictionSoft, evictionSoftGracePeriod, evictionMinimumReclaim | unknown signal; value neither quantity nor percent; percent below 0% or above 100%; quantity not above 0 (minimum reclaim: negative quantity, percent not above 0); soft signal without grace period; grace period negative":
    {
      bad: [
        [hard("1Gi", "memory.availble"), "evictionHard[memory.availble]", "did you mean memory.available?"],
        [hard("1Gi", "swap"), "evictionHard[swap]", "known signals are memory.available,"],
        badHard("much", "neither a quantity"),
        badHard("10 %", "neither a quantity"),
        badHard("-1%", "is not a percentage from 0% to 100%"),
        badHard("100.1%", "is not a percentage from 0% to 100%"),
        badHard("0", "above 0"),
        badHard("-1Gi", "above 0"),
        [reclaim("-1Gi"), "evictionMinimumReclaim[memory.available]", "is not a quantity of 0 or more"],
        [reclaim("0%"), "evictionMinimumReclaim[memory.available]", "is not a percentage above 0%"],
        [reclaim("x"), "evictionMinimumReclaim[memory.available]", "neither a quantity"],
        [{ evictionMinimumReclaim: { mem: "1" } }, "evictionMinimumReclaim[mem]", "is not an eviction signal"],
        [{ evictionSoft: { "nodefs.available": "20%" } }, "evictionSoft[nodefs.available]", "has no grace period"],
        [soft("-1s"), "evictionSoftGracePeriod[nodefs.available]", "is not a duration of 0 or more"],
        [soft("soon"), "evictionSoftGracePeriod[nodefs.available]", "is not a duration such as"],
        [{ evictionSoftGracePeriod: { disk: "1s" } }, "evictionSoftGracePeriod[disk]", "is not an eviction signal"],
        [{ evictionSoft: { disk: "1Gi" } }, "evictionSoft[disk]", "is not an eviction signal"],
      ],
      good: [
        hard("0%"),
        hard("100%"),
        hard("7.5%"),
        hard("1Gi"),
        hard("10%", "containerfs.available"),
        hard("100", "pid.available"),
        reclaim("0"),
        reclaim("5%"),
        soft("0s"),
        soft("1m30s"),
        { evictionSoft: { "nodefs.available": "0%" } },
        { evictionHard: {}, evictionSoftGracePeriod: { "nodefs.available": "1m" } },
      ],
    },
  "tlsCipherSuites | unknown cipher name": {
    bad: [
      [
        { tlsCipherSuites: ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"] },
        "tlsCipherSuites[1]",
        "is not the name of a cipher suite",
      ],
      [{ tlsCipherSuites: ["TLS_RSA_WITH_RC4_128_SHA"] }, "tlsCipherSuites", "only insecure ciphers"],
    ],
    good: [
      { tlsCipherSuites: ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_RC4_128_SHA"] },
      { tlsCipherSuites: [] },
    ],
  },
  "tlsMinVersion | unknown version name": {
    bad: [[{ tlsMinVersion: "TLSv1.2" }, "tlsMinVersion", '"TLSv1.2" is not VersionTLS10,']],
    good: ["", "VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"].map((tlsMinVersion) => ({
      tlsMinVersion,
    })),
  },
  "tlsCurvePreferences | outside 1..65535, repeated, or unknown to the crypto library": {
    bad: [
      [{ tlsCurvePreferences: [29, 0] }, "tlsCurvePreferences[1]", "0 is not a number from 1 to 65535"],
      [{ tlsCurvePreferences: [29, 65536] }, "tlsCurvePreferences[1]", "65536"],
      [{ tlsCurvePreferences: [29, 29] }, "tlsCurvePreferences[1]", "29 is listed twice"],
      [{ tlsCurvePreferences: [29, 26] }, "tlsCurvePreferences[1]", "26 is not a known curve"],
      [{ tlsCurvePreferences: [4588] }, "tlsCurvePreferences", "lists only unsupported curves"],
    ],
    good: [{ tlsCurvePreferences: [23, 24, 25, 29] }, { tlsCurvePreferences: [4588, 29] }],
  },
  "--node-labels | kubernetes.io or k8s.io namespaced key outside the allowed keys and prefixes": {
    bad: [
      "kubernetes.io/role",
      "node-role.kubernetes.io/worker",
      "k8s.io/x",
      "a.k8s.io/x",
      "xnode.kubernetes.io/a",
    ].map((key) => [label(key), "--node-labels", `may not set its own label ${key}`]),
    good: [
      "kubernetes.io/hostname",
      "topology.kubernetes.io/zone",
      "topology.kubernetes.io/region",
      "failure-domain.beta.kubernetes.io/zone",
      "failure-domain.beta.kubernetes.io/region",
      "beta.kubernetes.io/instance-type",
      "node.kubernetes.io/instance-type",
      "kubernetes.io/os",
      "kubernetes.io/arch",
      "beta.kubernetes.io/os",
      "beta.kubernetes.io/arch",
      "kubelet.kubernetes.io/x",
      "a.kubelet.kubernetes.io/x",
      "node.kubernetes.io/x",
      "a.b.node.kubernetes.io/x",
      "example.com/x",
      "notkubernetes.io/x",
      "role",
    ].map((key) => label(key, "a")),
  },
  "--node-labels | key not a qualified name, or value not a label value": {
    bad: [
      [label("a b"), "--node-labels", 'the key "a b" is not a qualified name'],
      [label("/a"), "--node-labels", 'the key "/a"'],
      [label("a", "x y"), "--node-labels", 'the value "x y" of "a" is not'],
    ],
    good: [label("a.b/c_d", "1.2-3")],
  },
  "--exit-on-lock-contention, --lock-file | exit flag true without lock file": {
    bad: [[{ flags: { exitOnLockContention: true } }, "--exit-on-lock-contention", "requires --lock-file"]],
    good: [{ flags: { exitOnLockContention: true, lockFile: "/run/lock" } }, { flags: { lockFile: "/run/lock" } }],
  },
  "--node-ip | more than two addresses, two of one family, two while cloud provider set to a value other than external, or two including 0.0.0.0 or ::; unparsable ones are skipped with a log line":
    {
      bad: [
        [nodeIP("10.0.0.1,fd00::1,10.0.0.2"), "--node-ip", "has 3 addresses"],
        [nodeIP("10.0.0.1,10.0.0.2"), "--node-ip", "two addresses of one family"],
        [nodeIP("fd00::1,fd00::2"), "--node-ip", "two addresses of one family"],
        [nodeIP("10.0.0.1,fd00::1", "aws"), ["--node-ip", "--cloud-provider"], "--cloud-provider=aws"],
        [nodeIP("10.0.0.1,::"), "--node-ip", "one of them unspecified"],
        [nodeIP("0.0.0.0,fd00::1"), "--node-ip", "one of them unspecified"],
        [nodeIP("10.0.0.256"), "--node-ip", '"10.0.0.256" is not an IP address'],
      ],
      good: [
        nodeIP("10.0.0.1"),
        nodeIP("0.0.0.0"),
        nodeIP("::"),
        nodeIP("10.0.0.1,fd00::1"),
        nodeIP("fd00::1, 10.0.0.1", "external"),
        nodeIP("10.0.0.1", "external"),
        nodeIP("10.0.0.1,"),
        nodeIP(""),
      ],
    },
  "config file | empty file, unknown apiVersion/kind, undecodable; unknown or duplicate fields only warn (strict decoding first, lenient decoding as fallback for v1beta1)":
    "the reading of config files checks it",
  "config-dir file | no apiVersion/kind, wrong apiVersion/kind, empty; files not ending .conf skipped":
    "the reading of drop-ins checks it",
};
