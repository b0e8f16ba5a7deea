import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ContainerInput,
  containerConfig,
} from "../../../../../src/main/containers/runtime/config/container-config.js";
import { containerEnv, type EnvSources } from "../../../../../src/main/containers/runtime/config/env.js";
import {
  containerMounts,
  volumeSubPath,
  type MountsInput,
} from "../../../../../src/main/containers/runtime/config/mounts.js";
import { sandboxConfig } from "../../../../../src/main/containers/runtime/config/sandbox-config.js";
import { CreateContainerConfigError } from "../../../../../src/main/model/container-config-error.js";
import type { Container, PodSpec } from "../../../../../src/shared/kubernetes/api/pod.js";
import {
  LinuxContainerResources,
  MountPropagation,
  NamespaceMode as N,
  SecurityProfile_ProfileType as Profile,
  Signal,
} from "../../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { containerIdOf } from "../../../../../src/shared/kubernetes/identifiers.js";
import { c, makePod } from "../../../pods/status/fixtures.js";

function build(container: Partial<Container> = {}, spec: Partial<PodSpec> = {}, rest: Partial<ContainerInput> = {}) {
  return containerConfig({
    pod: makePod(spec, { labels: { app: "x" } }),
    container: c("a", container),
    kind: "app",
    restartCount: 3,
    imageRef: "sha256:abc",
    imageUser: {},
    env: new Map([["V", "val"]]),
    mounts: [],
    resources: LinuxContainerResources.fromPartial({ cpuShares: 2n }),
    seccompDefault: false,
    seccompProfileRoot: "/root/seccomp",
    thermalThrottlePaths: [],
    volumeGroups: [],
    ...rest,
  });
}
const security = (...args: Parameters<typeof build>) => {
  const context = build(...args).linux?.securityContext;
  assert.ok(context);
  return context;
};

test("container: command, image, log path, labels and annotations", () => {
  const config = build(
    {
      command: ["sh", "$(V)"],
      args: ["$$(V)", "$(NO)"],
      workingDir: "/w",
      tty: true,
      stdin: true,
      ports: [{ containerPort: 80, protocol: "TCP", name: "<h>" }],
      lifecycle: { preStop: { exec: { command: ["a", "b&c"] } }, stopSignal: "SIGRTMIN+3" },
      terminationMessagePath: "/tm",
      terminationMessagePolicy: "FallbackToLogsOnError",
    },
    { terminationGracePeriodSeconds: 30 },
    { annotations: { extra: "1", "io.kubernetes.container.restartCount": "99" } },
  );
  assert.deepEqual(config.metadata, { name: "a", attempt: 3 });
  assert.deepEqual(
    [config.command, config.args],
    [
      ["sh", "val"],
      ["$(V)", "$(NO)"],
    ],
  );
  assert.equal(config.image?.image, "sha256:abc");
  assert.equal(config.image.userSpecifiedImage, "img");
  assert.deepEqual([config.logPath, config.workingDir, config.tty, config.stdin], ["a/3.log", "/w", true, true]);
  assert.equal(Buffer.from(config.envs[0]?.value ?? []).toString(), "val");
  assert.deepEqual(config.labels, {
    "io.kubernetes.pod.name": "web",
    "io.kubernetes.pod.namespace": "ns",
    "io.kubernetes.pod.uid": "u1",
    "io.kubernetes.container.name": "a",
  });
  const { "io.kubernetes.container.hash": hash, ...annotations } = config.annotations;
  assert.match(hash ?? "", /^[0-9a-f]{1,8}$/);
  assert.deepEqual(annotations, {
    extra: "1",
    "io.kubernetes.container.restartCount": "3",
    "io.kubernetes.container.terminationMessagePath": "/tm",
    "io.kubernetes.container.terminationMessagePolicy": "FallbackToLogsOnError",
    "io.kubernetes.pod.terminationGracePeriod": "30",
    "io.kubernetes.container.preStopHandler": '{"exec":{"command":["a","b\\u0026c"]}}',
    "io.kubernetes.container.ports": '[{"name":"\\u003ch\\u003e","containerPort":80,"protocol":"TCP"}]',
  });
  assert.equal(config.stopSignal, Signal.RUNTIME_DEFAULT, "stop signals need their gate");
  const long = "x".repeat(5000);
  const tenants = build({
    lifecycle: { preStop: { exec: { command: ["sh", "-c", long] } } },
    terminationMessagePath: `/${long}`,
    ports: Array.from({ length: 500 }, (_, index) => ({ name: `p${index}`, containerPort: index + 1 })),
  });
  assert.ok(JSON.stringify(tenants.annotations).length < 1000, "no long text of a tenant is in a list of the runtime");
  const gated = build({ lifecycle: { stopSignal: "SIGRTMIN+3" } }, {}, { stopSignals: true });
  assert.equal(gated.stopSignal, Signal.SIGRTMINPLUS3);
});

test("deletion grace period is annotated when set", () => {
  const pod = makePod({}, { deletionGracePeriodSeconds: 0 });
  assert.equal(build({}, {}, { pod }).annotations["io.kubernetes.pod.deletionGracePeriod"], "0");
});

test("users: container over pod over image over root", () => {
  const rows: [Partial<Container>, Partial<PodSpec>, ContainerInput["imageUser"], bigint | undefined, string][] = [
    [{}, {}, {}, 0n, ""],
    [{}, {}, { uid: 7 }, 7n, ""],
    [{}, {}, { username: "bob" }, undefined, "bob"],
    [{}, { securityContext: { runAsUser: 5 } }, { uid: 7 }, 5n, ""],
    [{ securityContext: { runAsUser: 9 } }, { securityContext: { runAsUser: 5 } }, { username: "bob" }, 9n, ""],
  ];
  for (const [container, spec, imageUser, uid, name] of rows) {
    const context = security(container, spec, { imageUser });
    assert.deepEqual([context.runAsUser?.value, context.runAsUsername], [uid, name]);
  }
  assert.equal(security({}, { securityContext: { runAsGroup: 3 } }).runAsGroup?.value, 3n);
});

const where = '(pod: "web_ns(u1)", container: a)';
test("runAsNonRoot: exact refusals, and the cases that pass", () => {
  const rows: [number | undefined, ContainerInput["imageUser"], string | undefined][] = [
    [0, { uid: 5 }, `container's runAsUser breaks non-root policy ${where}`],
    [
      undefined,
      { username: "bob" },
      `container has runAsNonRoot and image has non-numeric user (bob), cannot verify user is non-root ${where}`,
    ],
    [undefined, { uid: 0 }, `container has runAsNonRoot and image will run as root ${where}`],
    [undefined, {}, `container has runAsNonRoot and image will run as root ${where}`],
    [5, {}, undefined],
    [undefined, { uid: 5 }, undefined],
  ];
  for (const [runAsUser, imageUser, message] of rows) {
    const context = { runAsNonRoot: true, ...(runAsUser !== undefined && { runAsUser }) };
    const make = () => security({}, { securityContext: context }, { imageUser });
    if (message === undefined) make();
    else assert.throws(make, new CreateContainerConfigError(message));
    security({ securityContext: { runAsNonRoot: false } }, { securityContext: context }, { imageUser });
  }
  assert.throws(
    () => security({ securityContext: { runAsNonRoot: true } }, {}, { imageUser: { uid: 2n ** 40n } }),
    /image has an invalid user id \(1099511627776\)/,
  );
});

test("seccomp: container, pod, node default, none; Localhost below the root", () => {
  const local = { type: "Localhost", localhostProfile: "p/x.json" } as const;
  const rows: [Partial<Container>, Partial<PodSpec>, boolean, Profile, string][] = [
    [{}, {}, false, Profile.Unconfined, ""],
    [{}, {}, true, Profile.RuntimeDefault, ""],
    [{}, { securityContext: { seccompProfile: { type: "Unconfined" } } }, true, Profile.Unconfined, ""],
    [{ securityContext: { seccompProfile: local } }, {}, true, Profile.Localhost, "/root/seccomp/p/x.json"],
  ];
  for (const [container, spec, seccompDefault, profileType, localhostRef] of rows) {
    assert.deepEqual(security(container, spec, { seccompDefault }).seccomp, { profileType, localhostRef });
  }
  assert.throws(
    () => security({ securityContext: { seccompProfile: { type: "Localhost" } } }),
    CreateContainerConfigError,
  );
});

test("AppArmor is sent typed and as the old string", () => {
  const rows: ["RuntimeDefault" | "Unconfined" | "Localhost", string][] = [
    ["RuntimeDefault", "runtime/default"],
    ["Unconfined", "unconfined"],
    ["Localhost", "localhost/prof"],
  ];
  for (const [type, old] of rows) {
    const context = security({ securityContext: { appArmorProfile: { type, localhostProfile: "prof" } } });
    assert.equal(new Map<string, unknown>(Object.entries(context)).get("apparmorProfile"), old);
    assert.equal(context.apparmor?.profileType, Profile[type]);
  }
  assert.equal(security().apparmor, undefined);
});

test("an AppArmor annotation counts after the container's field and before the pod's", () => {
  const key = "container.apparmor.security.beta.kubernetes.io/a";
  const named = (annotation: string, container: Partial<Container> = {}, spec: Partial<PodSpec> = {}) => {
    const { apparmor } = security(container, spec, { pod: makePod(spec, { annotations: { [key]: annotation } }) });
    return apparmor && [apparmor.profileType, apparmor.localhostRef];
  };
  const runtimeDefault = { securityContext: { appArmorProfile: { type: "RuntimeDefault" } } } as const;
  assert.deepEqual(named("localhost/prof"), [Profile.Localhost, "prof"]);
  assert.deepEqual(named("unconfined", {}, runtimeDefault), [Profile.Unconfined, ""]);
  assert.deepEqual(named("unconfined", runtimeDefault), [Profile.RuntimeDefault, ""]);
  assert.deepEqual(named("", {}, runtimeDefault), [Profile.RuntimeDefault, ""]);
  assert.equal(named(""), undefined);
});

test("capabilities, privilege, read-only root, escalation, groups, proc mount", () => {
  const context = security(
    {
      securityContext: {
        capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] },
        privileged: true,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        seLinuxOptions: { level: "s0" },
      },
    },
    { securityContext: { fsGroup: 10, supplementalGroups: [20, 10], seLinuxOptions: { level: "s9", user: "u" } } },
    { volumeGroups: [30], thermalThrottlePaths: ["/sys/devices/system/cpu/cpu0/thermal_throttle"] },
  );
  assert.deepEqual(context.capabilities?.addCapabilities, ["NET_ADMIN"]);
  assert.deepEqual(context.capabilities.dropCapabilities, ["ALL"]);
  assert.deepEqual([context.privileged, context.readonlyRootfs, context.noNewPrivs], [true, true, true]);
  assert.deepEqual(context.supplementalGroups, [10n, 20n, 30n]);
  assert.deepEqual(context.selinuxOptions, { user: "", role: "", type: "", level: "s0" });
  assert.equal(context.maskedPaths.length, 13);
  assert.ok(context.maskedPaths.includes("/proc/interrupts"));
  assert.deepEqual(context.readonlyPaths, ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]);
  const unmasked = security({ securityContext: { procMount: "Unmasked" } });
  assert.deepEqual([unmasked.maskedPaths, unmasked.readonlyPaths, unmasked.noNewPrivs], [[], [], false]);
});

test("namespaces, and the target of an ephemeral container", () => {
  const rows: [Partial<PodSpec>, N, N, N][] = [
    [{}, N.POD, N.CONTAINER, N.POD],
    [{ shareProcessNamespace: true }, N.POD, N.POD, N.POD],
    [{ hostNetwork: true, hostPID: true, hostIPC: true }, N.NODE, N.NODE, N.NODE],
  ];
  for (const [spec, network, pid, ipc] of rows) {
    const options = security({}, spec).namespaceOptions;
    assert.deepEqual([options?.network, options?.pid, options?.ipc], [network, pid, ipc]);
    assert.equal(options?.usernsOptions?.mode, N.NODE);
  }
  const container = { ...c("dbg"), targetContainerName: "a" };
  const kind = "ephemeral" as const;
  const options = security({}, {}, { container, kind, targetContainerId: containerIdOf("id9") }).namespaceOptions;
  assert.deepEqual([options?.pid, options?.targetId], [N.TARGET, "id9"]);
  assert.throws(() => security({}, {}, { container, kind }), /unable to find target container a/);
  assert.equal(security({}, { shareProcessNamespace: true }, { container, kind }).namespaceOptions?.pid, N.POD);
});

test("sandbox: labels, ports, sysctls, security", () => {
  const pod = makePod(
    {
      containers: [
        c("a", {
          ports: [{ containerPort: 80 }, { containerPort: 53, hostPort: 5353, protocol: "UDP", hostIP: "1.2.3.4" }],
        }),
        c("b", { securityContext: { privileged: true } }),
      ],
      securityContext: { runAsUser: 4, runAsGroup: 5, fsGroup: 6, sysctls: [{ name: "net/core/x", value: "1" }] },
    },
    { labels: { app: "x", "io.kubernetes.pod.uid": "forged" }, annotations: { k: "v" } },
  );
  const dns = { servers: ["1.1.1.1"], searches: ["s"], options: ["ndots:5"] };
  const input = { pod, attempt: 2, hostname: "web", dns, logDirectory: "/logs", cgroupParent: "/kubepods/x" };
  const config = sandboxConfig(input);
  assert.deepEqual(config.metadata, { name: "web", namespace: "ns", uid: "u1", attempt: 2 });
  assert.deepEqual([config.hostname, config.logDirectory, config.dnsConfig], ["web", "/logs", dns]);
  assert.deepEqual(config.portMappings, [
    { protocol: 0, containerPort: 80, hostPort: 0, hostIp: "" },
    { protocol: 1, containerPort: 53, hostPort: 5353, hostIp: "1.2.3.4" },
  ]);
  assert.equal(config.labels["io.kubernetes.pod.uid"], "u1");
  assert.equal(config.labels["app"], "x");
  assert.deepEqual(config.annotations, { k: "v" });
  assert.equal(config.linux?.cgroupParent, "/kubepods/x");
  assert.deepEqual(config.linux.sysctls, { "net.core.x": "1" });
  const context = config.linux.securityContext;
  assert.deepEqual([context?.privileged, context?.runAsUser?.value, context?.runAsGroup?.value], [true, 4n, 5n]);
  assert.equal(context?.seccomp?.profileType, Profile.RuntimeDefault);
  assert.deepEqual(context.supplementalGroups, [6n]);
  const host = sandboxConfig({ ...input, pod: makePod({ hostNetwork: true, securityContext: { runAsGroup: 5 } }) });
  assert.equal(host.hostname, "");
  assert.equal(host.linux?.securityContext?.runAsGroup, undefined);
  assert.equal(host.linux?.securityContext?.privileged, false);
});

const noClient = (kind: string) => (name: string) =>
  Promise.reject(new CreateContainerConfigError(`couldn't get ${kind} ns/${name}`));
const noSources: EnvSources = { configMap: noClient("configMap"), secret: noClient("secret") };

const env = (container: Partial<Container>, rest: object = {}) =>
  containerEnv({
    pod: makePod({ nodeName: "n1" }, { labels: { "a/b": "L" } }),
    container: c("a", container),
    podIPs: ["10.0.0.5", "fd00::5"],
    hostIPs: ["192.0.2.1"],
    nodeAllocatable: { cpu: 4 },
    sources: noSources,
    ...rest,
  });

test("environment: earlier variables, service variables, overrides, downward API", async () => {
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  const resource = (name: string, of: string, divisor?: string) => ({
    name,
    valueFrom: { resourceFieldRef: { resource: of, ...(divisor !== undefined && { divisor }) } },
  });
  const result = await env(
    {
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "$(A)-$(LATER)-$(SVC)" },
        { name: "LATER", value: "x" },
        { name: "A", value: "$(A)2" },
        { name: "E" },
        field("NAME", "metadata.name"),
        field("LABEL", "metadata.labels['a/b']"),
        field("NO", "metadata.annotations['none']"),
        field("NODE", "spec.nodeName"),
        field("IPS", "status.podIPs"),
        field("HOST", "status.hostIP"),
        resource("LIMIT", "limits.cpu"),
        resource("REQUEST", "requests.cpu", "1m"),
        resource("ROUND", "requests.cpu"),
        resource("MEM", "requests.memory", "1000"),
        resource("NOREQ", "requests.ephemeral-storage"),
      ],
      resources: { requests: { cpu: "1500m", memory: 1001 } },
    },
    {
      serviceEnv: new Map([
        ["SVC", "s"],
        ["LATER", "service"],
      ]),
    },
  );
  assert.deepEqual(Object.fromEntries(result), {
    A: "12",
    B: "1-service-s",
    LATER: "x",
    E: "",
    NAME: "web",
    LABEL: "L",
    NO: "",
    NODE: "n1",
    IPS: "10.0.0.5,fd00::5",
    HOST: "192.0.2.1",
    LIMIT: "4",
    REQUEST: "1500",
    ROUND: "2",
    MEM: "2",
    NOREQ: "0",
    SVC: "s",
  });
});

test("environment: sources that need an API server fail on a stand-alone node", async () => {
  const rows: [Partial<Container>, RegExp][] = [
    [
      { env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "cm", key: "k" } } }] },
      /couldn't get configMap ns\/cm/,
    ],
    [{ env: [{ name: "A", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] }, /couldn't get secret ns\/s/],
    [{ envFrom: [{ configMapRef: { name: "cm" } }] }, /couldn't get configMap ns\/cm/],
    [{ envFrom: [{ secretRef: { name: "s" } }] }, /couldn't get secret ns\/s/],
    [{ env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.labels" } } }] }, /unsupported fieldPath/],
    [
      { env: [{ name: "A", valueFrom: { resourceFieldRef: { resource: "limits.gpu" } } }] },
      /unsupported container resource/,
    ],
    [
      { env: [{ name: "A", valueFrom: { resourceFieldRef: { containerName: "zz", resource: "limits.cpu" } } }] },
      /container zz not found/,
    ],
  ];
  for (const [container, message] of rows) {
    await assert.rejects(
      env(container),
      (error) => error instanceof CreateContainerConfigError && message.test(error.message),
    );
  }
});

const mounts = (volumeMounts: Container["volumeMounts"], rest: Partial<MountsInput> = {}) =>
  containerMounts({
    pod: makePod(),
    container: c("a", { volumeMounts: volumeMounts ?? [] }),
    volumes: new Map([["v", { hostPath: "/host/v" }]]),
    seLinux: false,
    etcHostsPath: "/p/etc-hosts",
    terminationLogPath: "/p/log",
    ...rest,
  });

test("SELinux: the runtime relabels the kubelet's own files and the volumes that allow it, only where it is enabled", () => {
  const volumeMounts = ["own", "node"].map((name) => ({ name, mountPath: `/${name}` }));
  const volumes = new Map([
    ["own", { hostPath: "/own", relabel: true as const }],
    ["node", { hostPath: "/node" }],
  ]);
  const relabelled = (seLinux: boolean): string[] =>
    mounts(volumeMounts, { volumes, seLinux })
      .filter(({ selinuxRelabel }) => selinuxRelabel)
      .map(({ containerPath }) => containerPath);
  assert.deepEqual(relabelled(true), ["/own", "/etc/hosts", "/dev/termination-log"]);
  assert.deepEqual(relabelled(false), []);
});

test("a termination message path is mounted below the root, without a slash at its end, as in upstream", () => {
  for (const [terminationMessagePath, expected] of [
    ["msg", "/msg"],
    ["a/../b", "/b"],
    ["/dev/termination-log/", "/dev/termination-log"],
    ["//x", "/x"],
    ["", undefined],
  ] as const) {
    const list = mounts([], { container: c("a", { terminationMessagePath }) });
    assert.equal(list.find(({ hostPath }) => hostPath === "/p/log")?.containerPath, expected, terminationMessagePath);
  }
});

test("mounts: volumes, hosts file, termination log", () => {
  const list = mounts([{ name: "v", mountPath: "data", readOnly: true, mountPropagation: "Bidirectional" }]);
  assert.deepEqual(
    list.map(({ hostPath, containerPath, readonly, propagation }) => [hostPath, containerPath, readonly, propagation]),
    [
      ["/host/v", "/data", true, MountPropagation.PROPAGATION_BIDIRECTIONAL],
      ["/p/etc-hosts", "/etc/hosts", false, MountPropagation.PROPAGATION_PRIVATE],
      ["/p/log", "/dev/termination-log", false, MountPropagation.PROPAGATION_PRIVATE],
    ],
  );
  const own = mounts([{ name: "v", mountPath: "/etc/hosts" }]);
  assert.deepEqual(
    own.map(({ hostPath }) => hostPath),
    ["/host/v", "/p/log"],
  );
  const given = new Map([["v", { hostPath: "/host/v", readOnly: true } as const]]);
  assert.equal(
    mounts([{ name: "v", mountPath: "/d" }], { volumes: given })[0]?.readonly,
    true,
    "whatever the mount says",
  );
  const sub = mounts([{ name: "v", mountPath: "/d", subPath: "s" }], { subPaths: new Map([[0, "/host/v/s"]]) });
  assert.equal(sub[0]?.hostPath, "/host/v/s");
  assert.throws(() => mounts([{ name: "v", mountPath: "/d", subPath: "s" }]), CreateContainerConfigError);
  assert.throws(
    () => mounts([{ name: "zz", mountPath: "/d" }]),
    new CreateContainerConfigError('cannot find volume "zz" to mount into container "a"'),
  );
});

test("a recursive read-only mount needs the runtime's support", () => {
  const one = (recursiveReadOnly: "Disabled" | "IfPossible" | "Enabled", readOnly: boolean, supported: boolean) =>
    mounts([{ name: "v", mountPath: "/d", readOnly, recursiveReadOnly }], { recursiveReadOnly: supported })[0]
      ?.recursiveReadOnly;
  assert.equal(one("Disabled", true, true), false);
  assert.equal(one("IfPossible", true, true), true);
  assert.equal(one("IfPossible", true, false), false);
  assert.equal(one("Enabled", true, true), true);
  const refused =
    'failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode, but it is not';
  assert.throws(
    () => one("Enabled", true, false),
    new CreateContainerConfigError(`${refused} supported by the runtime`),
  );
  assert.throws(() => one("Enabled", false, true), /not read-only/);
});

test("sub-paths: expanded, relative, inside the volume", () => {
  const vars = new Map([["A", "x"]]);
  const mount = { name: "v", mountPath: "/d" };
  assert.equal(volumeSubPath(mount, vars), undefined);
  assert.equal(volumeSubPath({ ...mount, subPath: "$(A)" }, vars), "$(A)");
  assert.throws(() => volumeSubPath({ ...mount, subPathExpr: "$(A)/".repeat(4096) }, vars), CreateContainerConfigError);
  assert.equal(volumeSubPath({ ...mount, subPathExpr: "p/$(A)" }, vars), "p/x");
  for (const bad of [{ subPathExpr: "$(B)" }, { subPath: "/abs" }, { subPath: "a/../../b" }]) {
    assert.throws(() => volumeSubPath({ ...mount, ...bad }, vars), CreateContainerConfigError);
  }
  assert.throws(
    () => volumeSubPath({ ...mount, subPathExpr: "$(Z)$(A)$(B)$(Z)" }, vars),
    new CreateContainerConfigError("missing value for B, Z"),
  );
});
