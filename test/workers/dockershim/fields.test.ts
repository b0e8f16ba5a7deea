// Every field of CRI's configurations of sandboxes and containers has a row here. It says what the Engine gets, or why
// the field is refused.
// @promise Docker Engine: Every field of CRI's sandboxes and containers reaches the Engine, is refused by its name, or
//   is named in a warning.
// @promise Docker Engine: A log record of docker is written once, however its stream is cut; names, labels, mounts and
//   namespaces are those of dockershim.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import {
  ContainerConfig,
  LinuxContainerConfig,
  LinuxContainerResources,
  LinuxContainerSecurityContext,
  LinuxPodSandboxConfig,
  LinuxSandboxSecurityContext,
  NamespaceMode,
  NamespaceOption,
  PodSandboxConfig,
  SecurityProfile_ProfileType,
  Signal,
  SupplementalGroupsPolicy,
} from "../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { createOptions } from "../../../src/workers/dockershim/containers/create-config.js";
import {
  unsupportedInContainer,
  unsupportedInSandbox,
  unsupportedResources,
} from "../../../src/workers/dockershim/containers/unsupported.js";
import { sandboxOptions } from "../../../src/workers/dockershim/sandboxes/create-config.js";
import { resolvConf } from "../../../src/workers/dockershim/sandboxes/run-sandbox.js";

let dir: string;
let profile: string;
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "nodelet-fields-"));
  profile = join(dir, "profile.json");
  await writeFile(profile, '{ "defaultAction": "SCMP_ACT_ERRNO" }\n');
});
after(() => rm(dir, { recursive: true }));

/** Part of the request to the Engine. */
type Expected = Record<string, unknown>;
/** Refused with this message, or a part of the request. A word: another test shows it. */
type Row<T> = [field: keyof T, config: object, expected: Expected | RegExp | string];

async function container(config: object, sandbox: object = {}): Promise<Expected> {
  const given = ContainerConfig.fromPartial({ metadata: { name: "app" }, ...config });
  unsupportedInContainer(given);
  const options = await createOptions({
    sandboxId: "s",
    config: given,
    sandboxConfig: PodSandboxConfig.fromPartial(sandbox),
    cgroupDriver: "cgroupfs",
    lowestOomScoreAdj: -1000,
  });
  return options as unknown as Expected;
}

async function sandbox(config: object): Promise<Expected> {
  const given = PodSandboxConfig.fromPartial({ metadata: { name: "web" }, ...config });
  unsupportedInSandbox(given);
  const options = await sandboxOptions({
    config: given,
    image: "pause",
    cgroupDriver: "systemd",
    podNetwork: "default",
    lowestOomScoreAdj: -1000,
  });
  return options as unknown as Expected;
}

/** Compares the members that the row names. */
function includes(found: Expected, expected: Expected): void {
  for (const [key, value] of Object.entries(expected)) {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      includes((found[key] ?? {}) as Expected, value as Expected);
    } else assert.deepEqual(found[key], value, key);
  }
}

async function check<T>(all: object, rows: () => Row<T>[], make: (config: object) => Promise<Expected>): Promise<void> {
  assert.deepEqual([...new Set(rows().map(([field]) => String(field)))].sort(), Object.keys(all).sort());
  for (const [field, config, expected] of rows()) {
    if (expected instanceof RegExp) await assert.rejects(make(config), expected, String(field));
    else if (typeof expected !== "string") includes(await make(config), expected);
  }
}

const host = (HostConfig: Expected): Expected => ({ HostConfig });
const profileOf = (profileType: SecurityProfile_ProfileType, localhostRef = "") => ({ profileType, localhostRef });

test("every field of a container's security context", async () => {
  const rows = (): Row<LinuxContainerSecurityContext>[] => [
    ["capabilities", { capabilities: { addCapabilities: ["NET_ADMIN"] } }, host({ CapAdd: ["NET_ADMIN"] })],
    ["capabilities", { capabilities: { dropCapabilities: ["ALL"] } }, host({ CapDrop: ["ALL"] })],
    [
      "capabilities",
      { capabilities: { addAmbientCapabilities: ["X"] } },
      /^Fault: add_ambient_capabilities is not sup/,
    ],
    ["privileged", { privileged: true }, host({ Privileged: true })],
    ["namespaceOptions", { namespaceOptions: { pid: NamespaceMode.NODE } }, host({ PidMode: "host" })],
    [
      "selinuxOptions",
      { selinuxOptions: { level: "s0" } },
      host({ SecurityOpt: ["seccomp=unconfined", "label=level:s0"] }),
    ],
    ["runAsUser", { runAsUser: { value: 5n } }, { User: "5" }],
    ["runAsUsername", { runAsUsername: "web" }, { User: "web" }],
    ["readonlyRootfs", { readonlyRootfs: true }, host({ ReadonlyRootfs: true })],
    ["supplementalGroups", { supplementalGroups: [7n] }, host({ GroupAdd: ["7"] })],
    [
      "apparmorProfile",
      { apparmorProfile: "localhost/p" },
      host({ SecurityOpt: ["seccomp=unconfined", "apparmor=p"] }),
    ],
    ["apparmorProfile", { apparmorProfile: "odd" }, /^Fault: apparmor_profile "odd": use runtime\/default/],
    ["seccompProfilePath", { seccompProfilePath: "docker/default" }, host({ SecurityOpt: [] })],
    ["noNewPrivs", { noNewPrivs: true }, host({ SecurityOpt: ["seccomp=unconfined", "no-new-privileges"] })],
    ["runAsGroup", { runAsUser: { value: 5n }, runAsGroup: { value: 6n } }, { User: "5:6" }],
    ["runAsGroup", { runAsGroup: { value: 6n } }, /^Fault: runAsGroup needs runAsUser/],
    ["maskedPaths", { maskedPaths: ["/proc/kcore"] }, host({ MaskedPaths: ["/proc/kcore"] })],
    ["readonlyPaths", { readonlyPaths: ["/proc/sys"] }, host({ ReadonlyPaths: ["/proc/sys"] })],
    ["seccomp", { seccomp: profileOf(SecurityProfile_ProfileType.RuntimeDefault) }, host({ SecurityOpt: [] })],
    [
      "seccomp",
      { seccomp: profileOf(SecurityProfile_ProfileType.Localhost, profile) },
      host({ SecurityOpt: ['seccomp={"defaultAction":"SCMP_ACT_ERRNO"}'] }),
    ],
    [
      "apparmor",
      { apparmorProfile: "localhost/old", apparmor: profileOf(SecurityProfile_ProfileType.Localhost, "new") },
      host({ SecurityOpt: ["seccomp=unconfined", "apparmor=new"] }),
    ],
    [
      "apparmor",
      { apparmor: profileOf(SecurityProfile_ProfileType.Unconfined) },
      host({ SecurityOpt: ["seccomp=unconfined", "apparmor=unconfined"] }),
    ],
    ["supplementalGroupsPolicy", { supplementalGroupsPolicy: SupplementalGroupsPolicy.Merge }, host({ GroupAdd: [] })],
    [
      "supplementalGroupsPolicy",
      { supplementalGroupsPolicy: SupplementalGroupsPolicy.Strict },
      /^Fault: supplemental_groups_policy Strict/,
    ],
  ];
  await check(LinuxContainerSecurityContext.fromPartial({}), rows, (security) =>
    container({ linux: { securityContext: security } }),
  );
});

test("every field of a container's resources", async () => {
  const rows = (): Row<LinuxContainerResources>[] => [
    ["cpuPeriod", { cpuPeriod: 1000n }, host({ CpuPeriod: 1000 })],
    ["cpuQuota", { cpuQuota: 500n }, host({ CpuQuota: 500 })],
    ["cpuShares", { cpuShares: 2n }, host({ CpuShares: 2 })],
    ["memoryLimitInBytes", { memoryLimitInBytes: 9n }, host({ Memory: 9, MemorySwap: 9 })],
    ["oomScoreAdj", { oomScoreAdj: 5n }, host({ OomScoreAdj: 5 })],
    ["cpusetCpus", { cpusetCpus: "0" }, host({ CpusetCpus: "0" })],
    ["cpusetMems", { cpusetMems: "0" }, host({ CpusetMems: "0" })],
    ["hugepageLimits", {}, "below"],
    ["unified", {}, "below"],
    ["memorySwapLimitInBytes", { memoryLimitInBytes: 9n, memorySwapLimitInBytes: 12n }, host({ MemorySwap: 12 })],
  ];
  await check(LinuxContainerResources.fromPartial({}), rows, (resources) => container({ linux: { resources } }));
  assert.deepEqual(
    unsupportedResources(
      LinuxContainerResources.fromPartial({
        hugepageLimits: [
          { pageSize: "2MB", limit: 0n },
          { pageSize: "1GB", limit: 1n },
        ],
        unified: { "memory.high": "1" },
      }),
    ),
    ["hugepage_limits (1GB): the limit of the pod holds", "unified (memory.high)"],
  );
});

test("every field of a container", async () => {
  const rows = (): Row<ContainerConfig>[] => [
    ["metadata", {}, "names"],
    ["image", { image: { image: "app:1" } }, { Image: "app:1" }],
    ["command", { command: ["a"] }, { Entrypoint: ["a"] }],
    ["args", { args: ["b"] }, { Cmd: ["b"] }],
    ["workingDir", { workingDir: "/w" }, { WorkingDir: "/w" }],
    ["envs", { envs: [{ key: "A", value: Buffer.from("ä") }] }, { Env: ["A=ä"] }],
    ["mounts", {}, "mounts"],
    [
      "devices",
      { devices: [{ hostPath: "/dev/a", containerPath: "/dev/b", permissions: "r" }] },
      host({ Devices: [{ PathOnHost: "/dev/a", PathInContainer: "/dev/b", CgroupPermissions: "r" }] }),
    ],
    ["labels", { labels: { a: "b" } }, { Labels: { a: "b" } }],
    ["annotations", { annotations: { a: "b" } }, { Labels: { "annotation.a": "b" } }],
    ["logPath", { logPath: "0.log" }, { Labels: { "io.kubernetes.container.logpath": "0.log" } }],
    ["stdin", { stdin: true }, { OpenStdin: true }],
    ["stdinOnce", { stdinOnce: true }, { StdinOnce: true }],
    ["tty", { tty: true }, { Tty: true }],
    ["linux", {}, "above"],
    ["windows", { windows: {} }, /^Fault: windows is not supported: the Docker Engine runs Linux containers only/],
    ["CDIDevices", { CDIDevices: [{ name: "v/c=d" }] }, /^Fault: CDI_devices is not supported/],
    ["stopSignal", { stopSignal: Signal.SIGRTMINPLUS3 }, { StopSignal: "SIGRTMIN+3" }],
  ];
  await check(ContainerConfig.fromPartial({}), rows, (config) => container(config));
  assert.deepEqual(Object.keys(LinuxContainerConfig.fromPartial({})), ["resources", "securityContext"]);
});

test("every field of a sandbox", async () => {
  const port = { containerPort: 80, hostPort: 8080 };
  const rows = (): Row<PodSandboxConfig>[] => [
    ["metadata", {}, "names"],
    ["hostname", { hostname: "web" }, { Hostname: "web" }],
    ["logDirectory", {}, "containers"],
    ["dnsConfig", {}, "resolv.conf"],
    [
      "portMappings",
      { portMappings: [port] },
      host({ PortBindings: { "80/tcp": [{ HostIp: "", HostPort: "8080" }] } }),
    ],
    ["labels", { labels: { a: "b" } }, { Labels: { a: "b" } }],
    ["annotations", { annotations: { a: "b" } }, { Labels: { "annotation.a": "b" } }],
    ["linux", {}, "below"],
    ["windows", { windows: {} }, /^Fault: windows is not supported/],
  ];
  await check(PodSandboxConfig.fromPartial({}), rows, sandbox);
  const withLog = await container({ logPath: "0.log" }, { logDirectory: "/logs/web" });
  includes(withLog, { Labels: { "io.kubernetes.container.logpath": "/logs/web/0.log" } });
  assert.match(resolvConf({ servers: ["10.0.0.1"], searches: [], options: [] }), /10\.0\.0\.1/);
});

test("every field of a sandbox on Linux; limits of the pod are the caller's, on the pod's cgroup", async () => {
  const rows = (): Row<LinuxPodSandboxConfig>[] => [
    ["cgroupParent", { cgroupParent: "/a.slice/a-b.slice" }, host({ CgroupParent: "a-b.slice" })],
    ["securityContext", {}, "below"],
    ["sysctls", { sysctls: { "net.core.somaxconn": "9" } }, host({ Sysctls: { "net.core.somaxconn": "9" } })],
    ["overhead", { overhead: { memoryLimitInBytes: 5n } }, host({ Memory: undefined })],
    ["resources", { resources: { memoryLimitInBytes: 5n } }, host({ Memory: undefined })],
  ];
  await check(LinuxPodSandboxConfig.fromPartial({}), rows, (linux) => sandbox({ linux }));
});

test("every field of a sandbox's security context", async () => {
  const rows = (): Row<LinuxSandboxSecurityContext>[] => [
    ["namespaceOptions", { namespaceOptions: { network: NamespaceMode.NODE } }, host({ NetworkMode: "host" })],
    [
      "selinuxOptions",
      { selinuxOptions: { type: "t" } },
      host({ SecurityOpt: ["seccomp=unconfined", "label=type:t", "no-new-privileges"] }),
    ],
    ["runAsUser", { runAsUser: { value: 5n } }, { User: "5" }],
    ["readonlyRootfs", { readonlyRootfs: true }, host({ ReadonlyRootfs: true })],
    ["supplementalGroups", { supplementalGroups: [7n] }, host({ GroupAdd: ["7"] })],
    ["privileged", { privileged: true }, host({ Privileged: true })],
    [
      "seccompProfilePath",
      { seccompProfilePath: "unconfined" },
      host({ SecurityOpt: ["seccomp=unconfined", "no-new-privileges"] }),
    ],
    ["runAsGroup", { runAsGroup: { value: 6n } }, /^Fault: runAsGroup needs runAsUser/],
    [
      "seccomp",
      { seccomp: profileOf(SecurityProfile_ProfileType.RuntimeDefault) },
      host({ SecurityOpt: ["no-new-privileges"] }),
    ],
    [
      "apparmor",
      { apparmor: profileOf(SecurityProfile_ProfileType.Localhost, "p") },
      host({ SecurityOpt: ["seccomp=unconfined", "apparmor=p", "no-new-privileges"] }),
    ],
    [
      "supplementalGroupsPolicy",
      { supplementalGroupsPolicy: SupplementalGroupsPolicy.Strict },
      /^Fault: supplemental_groups_policy/,
    ],
  ];
  await check(LinuxSandboxSecurityContext.fromPartial({}), rows, (securityContext) =>
    sandbox({ linux: { securityContext } }),
  );
});

test("every namespace; those that the Engine cannot give a pod are refused by name", async () => {
  const { POD, NODE, CONTAINER, TARGET } = NamespaceMode;
  const rows = (): Row<NamespaceOption>[] => [
    ["network", { network: POD }, host({ NetworkMode: "container:s" })],
    ["network", { network: TARGET }, /^Fault: namespace_options\.network TARGET is not supported/],
    ["pid", { pid: CONTAINER }, host({ PidMode: "" })],
    ["ipc", { ipc: CONTAINER }, /^Fault: namespace_options\.ipc CONTAINER is not supported/],
    ["targetId", { pid: TARGET, targetId: "t" }, host({ PidMode: "container:t" })],
    ["usernsOptions", { usernsOptions: { mode: NODE } }, host({ NetworkMode: "container:s" })],
    ...[POD, CONTAINER, TARGET].map((mode): Row<NamespaceOption> => [
      "usernsOptions",
      { usernsOptions: { mode } },
      /^Fault: userns_options [A-Z]+ is not supported/,
    ]),
  ];
  await check(NamespaceOption.fromPartial({}), rows, (namespaceOptions) =>
    container({ linux: { securityContext: { namespaceOptions } } }),
  );
});
