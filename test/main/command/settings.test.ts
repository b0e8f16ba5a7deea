import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { CONFIG_FIELDS } from "../../../src/main/command/config-fields.js";
import { isSettingsError } from "../../../src/main/command/errors.js";
import { OPTION_ROWS } from "../../../src/main/command/options.js";
import { loadSettings, type Settings } from "../../../src/main/command/settings.js";

const HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

async function load(argv: string[], body?: string): Promise<Settings> {
  const args = body === undefined ? argv : [...argv, "--config=/etc/k/c.yaml"];
  const request = await loadSettings(args, () => HEAD + (body ?? ""));
  if (request.action !== "run") throw new Error("expected to run");
  return request.settings;
}

async function problemsOf(argv: string[], body?: string): Promise<readonly string[]> {
  try {
    await load(argv, body);
  } catch (error) {
    if (isSettingsError(error)) return error.problems;
    throw error;
  }
  return [];
}

test("a row's config field is a known one, of the row's type", () => {
  for (const [name, row] of OPTION_ROWS) {
    if (row.field === undefined) continue;
    const field = CONFIG_FIELDS.find(({ path }) => path === row.field);
    ok(field !== undefined, name);
    // logging.verbosity is uint32 in the file and int32 as a flag.
    if (row.field !== "logging.verbosity") equal(field.type, row.type, name);
  }
});

describe("precedence", () => {
  test("default", async () => equal((await load([])).maxPods, 110));
  test("file over default", async () => equal((await load([], "maxPods: 5")).maxPods, 5));
  test("flag over file", async () => equal((await load(["--max-pods=6"], "maxPods: 5")).maxPods, 6));
  test("an empty value is the default", async () => {
    const settings = await load(["--sync-frequency=0"], "maxPods: 0\naddress: ''\n");
    deepEqual([settings.maxPods, settings.address, settings.syncFrequencyMs], [110, "127.0.0.1", 60_000]);
  });
  test("a flag repairs the file's value", async () =>
    deepEqual(await problemsOf(["--read-only-port=0"], "readOnlyPort: 70000"), []));
});

describe("stand-alone defaults", () => {
  test("read-only port on loopback", async () => {
    const { address, readOnlyPort } = await load([]);
    deepEqual([address, readOnlyPort], ["127.0.0.1", 10255]);
  });
  test("0 turns it off, by flag and by file", async () => {
    equal((await load(["--read-only-port=0"])).readOnlyPort, 0);
    equal((await load([], "readOnlyPort: 0")).readOnlyPort, 0);
  });
});

describe("derived", () => {
  test("paths of the file are relative to it, a flag's are not", async () => {
    const file = "staticPodPath: m\nresolvConf: ''\npodLogsDir: logs\n";
    const settings = await load([], file);
    deepEqual([settings.staticPodPath, settings.resolvConf, settings.podLogsDir], ["/etc/k/m", "", "/etc/k/logs"]);
    equal((await load(["--pod-manifest-path=m"])).staticPodPath, "m");
  });
  test("endpoints", async () => {
    const settings = await load(["--container-runtime-endpoint=/run/x.sock"]);
    deepEqual(
      [settings.containerRuntimeEndpoint, settings.imageServiceEndpoint],
      ["unix:///run/x.sock", "unix:///run/x.sock"],
    );
  });
  test("sync loop limit", async () => {
    equal((await load([])).syncLoopMaxAgeMs, 300_000);
    equal((await load(["--sync-frequency=10m"])).syncLoopMaxAgeMs, 1_200_000);
  });
  test("cgroup root", async () => {
    equal((await load([])).cgroupRoot, "/");
    equal((await load(["--cgroups-per-qos=false"])).cgroupRoot, "");
    equal((await load(["--pod-max-pids=-5"])).podPidsLimit, -1);
  });
});

describe("problems", () => {
  test("of flags and file together, each with its place", async () => {
    deepEqual(await problemsOf(["--maxpods=1", "--address=here"], "maxPods: -1\ncgroupDriver: x\nfoo: 1"), [
      "unknown flag --maxpods; did you mean --max-pods?",
      '--address: "here" is not an IP address',
      "/etc/k/c.yaml:5:1: foo: unknown field",
      '/etc/k/c.yaml:4:15: cgroupDriver: "x" is not cgroupfs or systemd',
      "/etc/k/c.yaml:3:10: maxPods: -1 is not a number of at least 0",
    ]);
  });
  const refused: [string, RegExp][] = [
    ["--kubeconfig=/x", /cluster mode is not in this version/],
    ["--read-only-port=65536", /"65536" is not a port from 0 to 65535/],
    ["--node-ip=10.0.0.1,10.0.0.2", /is not one IP address, or an IPv4 and an IPv6/],
    ["--node-ip=x", /is not one IP address/],
    ["--cluster-dns=x", /is not IP addresses/],
    ["--root-dir=relative", /is not an absolute path/],
    ["--root-dir=/a/../b", /is not an absolute path/],
    ["--container-runtime-endpoint=tcp://1.2.3.4:5", /is not a socket such as/],
    ["--manifest-url=ftp://x", /is not an http:\/\/ or https:\/\/ URL/],
    ["--file-check-frequency=-1s", /is not a duration of 0 or more/],
  ];
  for (const [flag, expected] of refused) {
    test(flag, async () => {
      const found = await problemsOf([flag]);
      equal(found.length, 1);
      match(found[0] ?? "", expected);
    });
  }
  test("an unreadable file", async () => {
    const missing = loadSettings(["--config=/none"], () => {
      throw new Error("ENOENT");
    });
    await rejects(missing, /--config: "\/none" cannot be read: ENOENT/);
  });
});

test("fields without effect yet are named when they differ from their default", async () => {
  const { notices } = await load([], "failSwapOn: false\nport: 10250\nmaxPods: 9\nevictionHard: {a: 5%}\n");
  deepEqual(notices, ["/etc/k/c.yaml: accepted but not acted on yet: failSwapOn, evictionHard"]);
});

describe("print", () => {
  const read = (): string => "";
  test("version", async () =>
    deepEqual(await loadSettings(["--version", "--nonsense"], read), {
      action: "print",
      text: "Kubernetes v1.36.0\n",
    }));
  test("help names every flag with its default", async () => {
    const request = await loadSettings(["--help"], read);
    const text = request.action === "print" ? request.text : "";
    for (const [, { flag }] of OPTION_ROWS)
      if (flag !== undefined && flag !== "v") match(text, new RegExp(`--${flag}\\b`));
    match(text, /--sync-frequency <duration>\n.*1m0s/);
  });
});
