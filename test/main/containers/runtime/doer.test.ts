// The verbs on the fake runtime: their effects on disk and in the runtime, and the reason of each failure.

import assert from "node:assert/strict";
import { mkdir, readFile, readlink, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Doer } from "../../../../src/main/containers/runtime/doer.js";
import { PodCgroupError, PodDirectoriesError } from "../../../../src/main/model/environment-errors.js";
import { DynamicResourcesError } from "../../../../src/main/model/pod-claims.js";
import { StartContainerError } from "../../../../src/main/model/step-errors.js";
import type { Step } from "../../../../src/main/model/step.js";
import { steadyTime } from "../../../../src/shared/base/clock/moments.js";
import type { Container, Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { CriUnavailableError } from "../../../../src/shared/kubernetes/cri/errors.js";
import {
  Mount,
  type CreateContainerRequest,
  type RunPodSandboxRequest,
} from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { podUid, sandboxIdOf } from "../../../../src/shared/kubernetes/identifiers.js";
import type { FakeCriOptions } from "../../../fake-cri/fake-cri.js";
import { until } from "../../../support/sources-kit.js";
import { app, BUSYBOX, never, podOf, runtimeOn, startStep } from "./runtime-kit.js";

async function build(t: TestContext, fakeOptions: Partial<FakeCriOptions> = {}) {
  const world = await runtimeOn(t, fakeOptions);
  const watched: [string, string[]][] = [];
  const doer = new Doer(world.runtime, podUid("uid-web"), (uid, dirs) => watched.push([uid, dirs]));
  const run = (pod: Pod | undefined, step: Step, signal = never) => doer.execute(pod, step, signal);
  const sandboxOf = async (pod: Pod, attempt = 0): Promise<string> => {
    const [hint] = await run(pod, { kind: "create-sandbox", attempt, reason: "the pod has no sandbox" });
    assert.equal(hint?.kind, "sandbox");
    return hint.id;
  };
  /** Sandbox and container; the container's id. */
  const start = async (pod: Pod, container: Container, fields: Parameters<typeof startStep>[2] = {}) => {
    const sandboxId = await sandboxOf(pod);
    const [hint] = await run(pod, startStep(container, sandboxId, fields));
    assert.equal(hint?.kind, "container");
    return { sandboxId, containerId: hint.id };
  };
  const created = (): CreateContainerRequest => world.calls("CreateContainer").at(-1) as CreateContainerRequest;
  return { ...world, watched, run, sandboxOf, start, created };
}

function waitingReason(expected: string, message: RegExp) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof StartContainerError, String(error));
    assert.equal(error.reason, expected);
    assert.match(error.message, message);
    return true;
  };
}

const clean: Step = { kind: "clean-up" };

test("a sandbox: directories, cgroup and configuration are there before it, and it is hinted", async (t) => {
  const world = await build(t);
  const pod = podOf(app());
  const id = await world.sandboxOf(pod, 3);
  const { config } = world.calls("RunPodSandbox")[0] as RunPodSandboxRequest;
  assert.ok(config);
  assert.deepEqual(config.metadata, { name: "web", namespace: "default", uid: "uid-web", attempt: 3 });
  assert.equal(config.hostname, "web");
  assert.equal(config.logDirectory, join(world.root, "log", "pods", "default_web_uid-web"));
  assert.equal(config.linux?.cgroupParent, "/kubepods/poduid-web");
  assert.deepEqual(config.dnsConfig?.servers, ["192.0.2.53"]);
  assert.ok((await stat(config.logDirectory)).isDirectory());
  assert.deepEqual((await readdir(join(world.root, "pods", "uid-web"))).sort(), ["plugins", "volumes"]);
  assert.deepEqual(world.watched, [["uid-web", ["/cgroup/uid-web"]]]);
  assert.deepEqual(world.counted, ["sandbox ok"]);
  assert.ok(world.fake.state.sandboxes.has(id));
});

test("a sandbox that fails is counted and fails the pod, not a container", async (t) => {
  const world = await build(t);
  world.fake.failpoint("RunPodSandbox", "error(UNKNOWN: no CNI configuration)");
  await assert.rejects(world.sandboxOf(podOf(app())), /no CNI configuration/);
  assert.deepEqual(world.counted, ["sandbox failed"]);
});

test("a cgroup that cannot be created fails the pod before a call of the runtime", async (t) => {
  const world = await build(t);
  world.failures.cgroup = new Error("cgroup is read-only");
  await assert.rejects(world.sandboxOf(podOf(app())), /read-only/);
  assert.equal(world.fake.calls.length, 0);
});

test("a pod with resource claims gets no sandbox and no container", async (t) => {
  const world = await build(t);
  const container = app();
  const sandboxId = await world.sandboxOf(podOf(container));
  const claiming = podOf(container);
  claiming.spec.resourceClaims = [{ name: "gpu", resourceClaimName: "one-gpu" }];
  const refused = (error: unknown): boolean => error instanceof DynamicResourcesError && /gpu/.test(error.message);
  await assert.rejects(world.sandboxOf(claiming), refused);
  await assert.rejects(world.run(claiming, startStep(container, sandboxId)), refused);
  assert.equal(world.calls("RunPodSandbox").length, 1);
  assert.equal(world.calls("CreateContainer").length, 0);
});

test("a container: created with the sandbox's own configuration, started, linked and hinted", async (t) => {
  const world = await build(t);
  const container = app({ command: ["sleep"], args: ["9"], env: [{ name: "A", value: "b" }] });
  const { sandboxId, containerId } = await world.start(podOf(container), container);
  const { podSandboxId, config, sandboxConfig } = world.created();
  assert.equal(podSandboxId, sandboxId);
  assert.deepEqual(sandboxConfig, (world.calls("RunPodSandbox")[0] as RunPodSandboxRequest).config);
  assert.ok(config?.image);
  assert.equal(config.image.image, world.fake.state.image(BUSYBOX)?.id, "the image that was resolved");
  assert.equal(config.image.userSpecifiedImage, BUSYBOX);
  assert.deepEqual([config.command, config.args], [["sleep"], ["9"]]);
  assert.ok(config.envs.some(({ key, value }) => key === "A" && Buffer.from(value).toString() === "b"));
  const link = join(world.root, "log", "containers", `web_default_app-${containerId}.log`);
  assert.equal(await readlink(link), join(world.root, "log", "pods", "default_web_uid-web", "app", "0.log"));
  assert.deepEqual(world.counted, ["sandbox ok", "container started"]);
});

test("the node's thermal_throttle directories are masked in containers", async (t) => {
  const world = await build(t);
  await world.start(podOf(app()), app());
  const { maskedPaths } = world.created().config?.linux?.securityContext ?? {};
  assert.equal(maskedPaths?.at(-1), "/sys/devices/system/cpu/cpu0/thermal_throttle");
});

test("the hosts file has the pod's addresses and aliases and is mounted", async (t) => {
  const world = await build(t);
  const pod = podOf(app(), { hostAliases: [{ ip: "10.1.1.1", hostnames: ["db", "cache"] }] });
  await world.start(pod, app(), { podIPs: ["10.88.0.2", "fd00::2"] });
  const path = join(world.root, "pods", "uid-web", "etc-hosts");
  const text = await readFile(path, "utf8");
  assert.match(text, /^# Kubernetes-managed hosts file\.\n127\.0\.0\.1\tlocalhost\n/);
  assert.match(
    text,
    /\n10\.88\.0\.2\tweb\nfd00::2\tweb\n\n# Entries added by HostAliases\.\n10\.1\.1\.1\tdb\tcache\n$/,
  );
  assert.equal((await stat(path)).mode & 0o777, 0o644);
  const mount = world.created().config?.mounts.find(({ containerPath }) => containerPath === "/etc/hosts");
  assert.equal(mount?.hostPath, path);
});

test("on the node's network the hosts file is the node's own, under its mark", async (t) => {
  const world = await build(t);
  await world.start(podOf(app(), { hostNetwork: true }), app(), { podIPs: [] });
  const text = await readFile(join(world.root, "pods", "uid-web", "etc-hosts"), "utf8");
  const own = await readFile("/etc/hosts", "utf8");
  assert.equal(text, `# Kubernetes-managed hosts file (host network).\n${own}`);
});

test("a pod without addresses has no hosts file", async (t) => {
  const world = await build(t);
  await world.start(podOf(app()), app(), { podIPs: [] });
  assert.ok(!(await readdir(join(world.root, "pods", "uid-web"))).includes("etc-hosts"));
  assert.ok(!world.created().config?.mounts.some(({ containerPath }) => containerPath === "/etc/hosts"));
});

test("each run has an empty termination log of its own that anybody may write", async (t) => {
  const world = await build(t);
  const container = app({ terminationMessagePath: "/tmp/last-words" });
  const { sandboxId } = await world.start(podOf(container), container);
  await world.run(podOf(container), startStep(container, sandboxId, { restartCount: 1 }));
  const paths = (world.calls("CreateContainer") as CreateContainerRequest[]).map(
    ({ config }) => config?.mounts.find(({ containerPath }) => containerPath === "/tmp/last-words")?.hostPath ?? "",
  );
  assert.equal(new Set(paths).size, 2);
  for (const path of paths) {
    assert.match(path, /\/pods\/uid-web\/containers\/app\/[0-9a-f]{8}$/);
    assert.equal(await readFile(path, "utf8"), "");
    assert.equal((await stat(path)).mode & 0o777, 0o666);
  }
});

test("volumes are mounted where the plugins put them, sub-paths below", async (t) => {
  const world = await build(t);
  const container = app({
    volumeMounts: [
      { name: "data", mountPath: "/data" },
      { name: "data", mountPath: "/part", subPath: "a/b" },
    ],
  });
  await world.start(podOf(container, { volumes: [{ name: "data", emptyDir: {} }] }), container);
  const data = join(world.root, "pods", "uid-web", "volumes", "fake", "data");
  const mounts = world.created().config?.mounts ?? [];
  assert.equal(mounts.find(({ containerPath }) => containerPath === "/data")?.hostPath, data);
  assert.equal(mounts.find(({ containerPath }) => containerPath === "/part")?.hostPath, join(data, "a/b"));
});

test("image volumes: fetched like a container's image, mounted by the runtime's reference, counted", async (t) => {
  const world = await build(t, { registry: { "models:1": {} } });
  const container = app({
    volumeMounts: [
      { name: "model", mountPath: "/model" },
      { name: "model", mountPath: "/part", subPath: "a/b", readOnly: true },
    ],
  });
  const pod = podOf(container, { volumes: [{ name: "model", image: { reference: "models:1" } }] });
  pod.metadata.annotations = { owner: "ml" };
  await world.start(pod, container);
  const mounts = (world.created().config?.mounts ?? []).filter(({ image }) => image !== undefined);
  const id = world.fake.state.image("models:1")?.id;
  assert.deepEqual(
    mounts.map(({ hostPath, containerPath, readonly, image, imageSubPath }) => [
      hostPath,
      containerPath,
      readonly,
      [image?.image, image?.userSpecifiedImage, image?.annotations],
      imageSubPath,
    ]),
    [
      ["", "/model", true, [id, "models:1", { owner: "ml" }], ""],
      ["", "/part", true, [id, "models:1", { owner: "ml" }], "a/b"],
    ],
  );
  assert.equal(world.calls("PullImage").length, 1);
  assert.deepEqual(
    world.counted.filter((line) => line.startsWith("image")),
    ["image volume requested", "image volume mounted"],
  );
});

test("an image volume's failure is the container's: a failed pull, a runtime that cannot mount images", async (t) => {
  const container = app({ volumeMounts: [{ name: "model", mountPath: "/model" }] });
  const cases: [reference: string, refusal: string | undefined, reason: string, message: RegExp][] = [
    ["gone:1", undefined, "ErrImagePull", /gone:1/],
    [
      "models:1",
      'failed to generate spec: failed to mkdir "": mkdir : no such file or directory',
      "CreateContainerError",
      /cannot mount images, as \/model of container app needs it to: containerd 2\.1/,
    ],
    ["models:1", "bad seccomp profile", "CreateContainerError", /^bad seccomp profile$/],
  ];
  for (const [reference, refusal, reason, message] of cases) {
    const world = await build(t, { registry: { "models:1": {} } });
    if (refusal !== undefined) world.fake.failpoint("CreateContainer", `error(UNKNOWN: ${refusal})`);
    const pod = podOf(container, { volumes: [{ name: "model", image: { reference } }] });
    await assert.rejects(world.start(pod, container), waitingReason(reason, message));
    assert.equal(world.counted.includes("image volume failed"), refusal !== undefined);
  }
});

test("the resource managers' grants reach the runtime; the pod's own variables win", async (t) => {
  const world = await build(t);
  const asked: string[] = [];
  world.runtime.managers = {
    ensure: (_, { name }) =>
      Promise.resolve(void asked.push(`ensure ${name} ${world.calls("CreateContainer").length}`)),
    grant: () => ({
      ...{ cpus: "1-2", memoryNodes: "0", noCpuQuota: true },
      env: [
        { name: "VISIBLE", value: "gpu0" },
        { name: "MINE", value: "theirs" },
      ],
      devices: [{ containerPath: "/dev/gpu", hostPath: "/dev/gpu0", permissions: "rw" }],
      mounts: [Mount.fromPartial({ containerPath: "/lib/gpu", hostPath: "/opt/gpu", readonly: true })],
      annotations: { "gpu.example.com/slot": "0" },
      cdiDevices: ["example.com/gpu=0"],
    }),
    preStart: (_, { name }) =>
      Promise.resolve(void asked.push(`before ${name} ${world.calls("CreateContainer").length}`)),
    started: (_pod, { name }, id) => void asked.push(`after ${name} ${id}`),
  };
  const container = app({ env: [{ name: "MINE", value: "own" }], resources: { limits: { cpu: "2" } } });
  const { containerId } = await world.start(podOf(container), container);
  const { config } = world.created();
  const text = new TextDecoder();
  const env = Object.fromEntries((config?.envs ?? []).map(({ key, value }) => [key, text.decode(value)]));
  assert.equal(env["VISIBLE"], "gpu0");
  assert.equal(env["MINE"], "own");
  assert.equal(config?.linux?.resources?.cpusetCpus, "1-2");
  assert.equal(config.linux.resources.cpusetMems, "0");
  assert.equal(config.linux.resources.cpuQuota, -1n);
  assert.deepEqual(config.devices, [{ containerPath: "/dev/gpu", hostPath: "/dev/gpu0", permissions: "rw" }]);
  assert.equal(config.mounts[0]?.containerPath, "/lib/gpu");
  assert.equal(config.annotations["gpu.example.com/slot"], "0");
  assert.deepEqual(config.CDIDevices, [{ name: "example.com/gpu=0" }]);
  assert.deepEqual(asked, ["ensure app 0", "before app 0", `after app ${containerId}`]);
});

test("a device that is not ready keeps its container from being created", async (t) => {
  const world = await build(t);
  world.runtime.managers = {
    ensure: () => Promise.resolve(),
    grant: () => ({}),
    preStart: () => Promise.reject(new Error("reset failed")),
    started: () => assert.fail("it never ran"),
  };
  await assert.rejects(world.start(podOf(app()), app()), waitingReason("CreateContainerConfigError", /^reset failed$/));
  assert.ok(world.events.includes("web app Warning Failed: Error: reset failed"));
  assert.equal(world.calls("CreateContainer").length, 0);
});

test("a container whose allocation is missing is not created, and the event gives the reason", async (t) => {
  const world = await build(t);
  world.runtime.managers.ensure = () => Promise.reject(new Error("the devices of container app are unknown"));
  const message = /^the devices of container app are unknown$/;
  await assert.rejects(world.start(podOf(app()), app()), waitingReason("CreateContainerConfigError", message));
  assert.ok(world.events.includes("web app Warning Failed: Error: the devices of container app are unknown"));
  assert.equal(world.calls("CreateContainer").length, 0);
});

test("recursive read-only as far as the runtime's default handler can", async (t) => {
  for (const [can, mode, expected] of [
    [true, "Enabled", true],
    [true, "IfPossible", true],
    [true, "Disabled", false],
    [false, "IfPossible", false],
    [undefined, "IfPossible", false],
    [false, "Enabled", "refused"],
    [undefined, "Enabled", "refused"],
  ] as const) {
    const world = await build(t);
    const features = { recursiveReadOnlyMounts: can === true, userNamespaces: false };
    world.fake.settings.runtimeHandlers = can === undefined ? [] : ["", "other"].map((name) => ({ name, features }));
    const container = app({
      volumeMounts: [{ name: "data", mountPath: "/data", readOnly: true, recursiveReadOnly: mode }],
    });
    const started = world.start(podOf(container, { volumes: [{ name: "data", emptyDir: {} }] }), container);
    if (expected === "refused") {
      await assert.rejects(started, waitingReason("CreateContainerConfigError", /not supported by the runtime/));
      continue;
    }
    await started;
    const mount = world.created().config?.mounts.find(({ containerPath }) => containerPath === "/data");
    assert.equal(mount?.recursiveReadOnly, expected, `${String(can)} ${mode}`);
    if (mode === "Disabled") assert.equal(world.calls("Status").length, 0, "no request without need");
  }
});

test("the restart count: from the plan, else from the logs that are left, else 0; an old log is never written over", async (t) => {
  const cases: [number | undefined, string[], string][] = [
    [7, ["3.log"], "app/7.log"],
    [undefined, ["0.log", "4.log", "11.log.20260101-000000.gz", "notes"], "app/12.log"],
    [undefined, [], "app/0.log"],
  ];
  for (const [restartCount, logs, expected] of cases) {
    const world = await build(t);
    const directory = join(world.root, "log", "pods", "default_web_uid-web", "app");
    await mkdir(directory, { recursive: true });
    for (const name of logs) await writeFile(join(directory, name), "");
    const { containerId } = await world.start(podOf(app()), app(), { restartCount });
    assert.equal(world.created().config?.logPath, expected);
    const link = join(world.root, "log", "containers", `web_default_app-${containerId}.log`);
    assert.ok((await readlink(link)).endsWith(`default_web_uid-web/${expected}`));
  }
});

test("a log link that cannot be made costs a warning, not the container", async (t) => {
  const world = await build(t);
  await mkdir(join(world.root, "log"));
  await writeFile(join(world.root, "log", "containers"), "not a directory");
  const { containerId } = await world.start(podOf(app()), app());
  assert.ok(world.fake.state.containers.has(containerId));
  assert.equal(world.kept.warnings().filter((line) => line.includes("log collectors will miss it")).length, 1);
});

type Fault = (world: Awaited<ReturnType<typeof build>>) => void;
const faults: [string, string, RegExp, Partial<Container>, Fault][] = [
  [
    "an image that is not there",
    "ErrImageNeverPull",
    /pull policy of Never/,
    { image: "gone:1", imagePullPolicy: "Never" },
    () => undefined,
  ],
  ["an image that cannot be pulled", "ErrImagePull", /not found/, { image: "gone:1" }, () => undefined],
  ["a name that is no image", "InvalidImageName", /invalid reference/, { image: "a b" }, () => undefined],
  [
    "an image user that breaks runAsNonRoot",
    "CreateContainerConfigError",
    /runAsNonRoot and image will run as root/,
    { securityContext: { runAsNonRoot: true } },
    () => undefined,
  ],
  [
    "a mount of a volume that the pod has not",
    "CreateContainerConfigError",
    /cannot find volume "data"/,
    { volumeMounts: [{ name: "data", mountPath: "/data" }] },
    () => undefined,
  ],
  [
    "a refused CreateContainer",
    "CreateContainerError",
    /^bad seccomp profile$/,
    {},
    ({ fake }) => fake.failpoint("CreateContainer", "error(UNKNOWN: bad seccomp profile)"),
  ],
  [
    "a process that cannot be started",
    "RunContainerError",
    /exec: "\/nope": no such file/,
    {},
    ({ fake }) => (fake.settings.startFails = () => 'exec: "/nope": no such file'),
  ],
  [
    "a StartContainer that takes too long",
    "RunContainerError",
    /./,
    {},
    ({ fake }) => fake.failpoint("StartContainer", "error(DEADLINE_EXCEEDED: context deadline exceeded)"),
  ],
];
for (const [what, reason, message, fields, prepare] of faults) {
  test(`${what} is ${reason}`, async (t) => {
    const world = await build(t);
    prepare(world);
    const container = app(fields);
    await assert.rejects(world.start(podOf(container), container), waitingReason(reason, message));
    assert.deepEqual(world.counted, ["sandbox ok", `container ${reason}`]);
    await assert.rejects(readdir(join(world.root, "log", "containers")), { code: "ENOENT" });
  });
}

test("the first container that fails in a new sandbox counts as a failure of the pod's user namespace, once", async (t) => {
  const world = await build(t);
  const features = { recursiveReadOnlyMounts: false, userNamespaces: true };
  world.fake.settings.runtimeHandlers = [{ name: "", features }];
  world.fake.failpoint("CreateContainer", "error(UNKNOWN: no mapping)");
  const container = app();
  const pod = podOf(container);
  pod.spec.hostUsers = false;
  const step = startStep(container, await world.sandboxOf(pod));
  await assert.rejects(world.run(pod, step), waitingReason("CreateContainerError", /^no mapping$/));
  const failed = ["container CreateContainerError", "user namespace"];
  assert.deepEqual(world.counted, ["sandbox ok", ...failed]);
  await assert.rejects(world.run(pod, step), waitingReason("CreateContainerError", /^no mapping$/));
  assert.deepEqual(world.counted, ["sandbox ok", ...failed, "container CreateContainerError"]);
});

test("an unavailable runtime and an abort are not the container's own failure", async (t) => {
  for (const verb of ["ImageStatus", "CreateContainer", "StartContainer"] as const) {
    const world = await build(t);
    world.fake.failpoint(verb, "error(UNAVAILABLE: restarting)");
    await assert.rejects(world.start(podOf(app()), app()), CriUnavailableError);
    world.fake.failpoint(verb, "hang");
    const controller = new AbortController();
    const pod = podOf(app());
    const sandboxId = world.fake.state.sandboxes.keys().next().value ?? "";
    const begun = world.calls(verb).length;
    const starting = world.run(pod, startStep(app(), sandboxId, { restartCount: 1 }), controller.signal);
    const rejected = assert.rejects(starting, (error: unknown) => !(error instanceof StartContainerError));
    await until(`${verb} hangs`, () => world.calls(verb).length > begun);
    controller.abort(new Error("the pod is being terminated"));
    await rejected;
    assert.deepEqual(world.counted, ["sandbox ok"], "nothing is counted as a failed start");
  }
});

test("a volume that cannot be set up fails the pass, not the container, which shows as being created", async (t) => {
  const world = await build(t);
  world.failures.setUp = new Error("disk on fire");
  await assert.rejects(
    world.start(podOf(app()), app()),
    (error: unknown) => !(error instanceof StartContainerError) && /disk on fire/.test(String(error)),
  );
  assert.deepEqual(world.counted, ["sandbox ok"]);
});

test("volumes whose set-up was aborted fail the pass, not the container", async (t) => {
  const world = await build(t);
  const sandboxId = await world.sandboxOf(podOf(app()));
  const controller = new AbortController();
  controller.abort(new Error("the pod is being terminated"));
  world.failures.setUp = new Error("the pod is being terminated");
  const other = podOf(app(), { hostname: "anew" });
  await assert.rejects(
    world.run(other, startStep(app(), sandboxId), controller.signal),
    (error: unknown) => !(error instanceof StartContainerError),
  );
});

test("prepared data is reused for the same definition, and made again after a failure or a new sandbox", async (t) => {
  const world = await build(t);
  const pod = podOf(app());
  world.failures.setUp = new Error("not yet");
  const sandboxId = await world.sandboxOf(pod);
  assert.equal(world.watched.length, 1);
  await assert.rejects(world.run(pod, startStep(app(), sandboxId)), /not yet/);
  world.failures.setUp = undefined;
  await assert.doesNotReject(world.run(pod, startStep(app(), sandboxId, { restartCount: 1 })));
  const prepared = world.watched.length;
  await world.run(pod, startStep(app(), sandboxId, { restartCount: 2 }));
  assert.equal(world.watched.length, prepared, "nothing to prepare");
  await world.sandboxOf(pod, 1);
  assert.equal(world.watched.length, prepared + 1);
  await rm(join(world.root, "pods"), { recursive: true });
  await assert.rejects(world.run(pod, startStep(app(), sandboxId, { restartCount: 3 })), StartContainerError);
});

test("stops and removals hint the changed objects, and NotFound is no error", async (t) => {
  const world = await build(t);
  const { sandboxId, containerId } = await world.start(podOf(app()), app());
  const steps: [Step, string][] = [
    [
      { kind: "kill-container", containerId, name: "app", graceSeconds: 7, deadline: steadyTime(7000), reason: "" },
      "container",
    ],
    [{ kind: "stop-sandbox", sandboxId: sandboxIdOf(sandboxId), reason: "" }, "sandbox"],
    [{ kind: "remove-container", containerId, name: "app" }, "container-removed"],
    [{ kind: "remove-sandbox", sandboxId: sandboxIdOf(sandboxId) }, "sandbox-removed"],
  ];
  for (const round of ["there", "gone"]) {
    for (const [step, kind] of steps) {
      const id = step.kind === "kill-container" || step.kind === "remove-container" ? containerId : sandboxId;
      const hints = await world.run(undefined, step);
      assert.deepEqual(hints[0], { kind, id }, round);
      // A sandbox takes its containers along.
      assert.deepEqual(hints.slice(1), kind === "sandbox-removed" ? [{ kind: "recheck", id: "" }] : [], round);
    }
  }
  assert.deepEqual(world.calls("StopContainer")[0], { containerId, timeout: 7n });
  assert.equal(world.fake.state.containers.size + world.fake.state.sandboxes.size, 0);
  world.fake.failpoint("StopPodSandbox", "error(UNKNOWN: the shim is stuck)");
  await assert.rejects(world.run(undefined, steps[1]?.[0] ?? clean), /shim is stuck/);
});

test("a pod without definition cannot be built", async (t) => {
  const world = await build(t);
  await assert.rejects(world.run(undefined, { kind: "create-sandbox", attempt: 0, reason: "" }), /without spec/);
  await assert.rejects(world.run(undefined, startStep(app(), "x")), /without spec/);
  assert.equal(world.fake.calls.length, 0);
});

test("clean-up removes everything of the pod, and nothing else", async (t) => {
  const world = await build(t);
  await world.start(podOf(app()), app());
  const logs = join(world.root, "log", "pods");
  const links = join(world.root, "log", "containers");
  const kept = [
    join(logs, "default_web_uid-other", "app", "0.log"), // the same name under another UID
    join(logs, "default_webby_uid-webby", "app", "0.log"),
    join(logs, "uid-web", "app", "0.log"), // no pod's directory
    join(world.root, "pods", "uid-other", "volumes", "file"),
  ];
  for (const path of kept) {
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, "keep");
  }
  const keptLinks: [string, string][] = [
    ["web_default_app-other.log", join(logs, "default_web_uid-other", "app", "0.log")],
    ["webby_default_app-1.log", join(logs, "default_webby_uid-webby", "app", "0.log")],
    ["web_default_app-foreign.log", "/var/log/elsewhere.log"],
  ];
  for (const [name, target] of keptLinks) await symlink(target, join(links, name));
  await writeFile(join(links, "web_default_file"), "not a link");
  world.cgroups.add("uid-other");

  assert.deepEqual(await world.run(undefined, clean), []);
  assert.deepEqual((await readdir(logs)).sort(), ["default_web_uid-other", "default_webby_uid-webby", "uid-web"]);
  assert.deepEqual((await readdir(links)).sort(), [...keptLinks.map(([name]) => name), "web_default_file"].sort());
  for (const path of kept) assert.equal(await readFile(path, "utf8"), "keep");
  assert.deepEqual(await readdir(join(world.root, "pods")), ["uid-other"]);
  assert.deepEqual([...world.cgroups], ["uid-other"]);
  await assert.doesNotReject(world.run(undefined, clean), "a second time there is nothing to do");
});

test("a pod that comes back under its UID keeps its logs: its containers' restarts are counted on", async (t) => {
  const world = await build(t);
  const { sandboxId } = await world.start(podOf(app()), app());
  const log = join(world.root, "log", "pods", "default_web_uid-web", "app", "0.log");
  await mkdir(join(log, ".."), { recursive: true });
  await writeFile(log, "first run");
  const back = new Doer(
    world.runtime,
    podUid("uid-web"),
    () => undefined,
    undefined,
    undefined,
    () => true,
  );
  await back.execute(undefined, clean, never);
  assert.equal(await readFile(log, "utf8"), "first run");
  const fields = startStep(app(), sandboxId);
  await world.run(podOf(app()), { ...fields, restartCount: undefined });
  assert.equal(world.created().config?.metadata?.attempt, 1);
});

test("release releases volumes and cgroup, and keeps directory and logs; a later start prepares again", async (t) => {
  const world = await build(t);
  const pod = podOf(app());
  await world.start(pod, app());
  const prepared = world.watched.length;
  assert.deepEqual(await world.run(pod, { kind: "release" }), []);
  assert.deepEqual([...world.cgroups], []);
  assert.ok((await readdir(join(world.root, "pods", "uid-web"))).includes("containers"));
  assert.deepEqual(await readdir(join(world.root, "log", "pods")), ["default_web_uid-web"]);
  await world.sandboxOf(pod, 1);
  assert.equal(world.watched.length, prepared + 1);
  assert.deepEqual([...world.cgroups], ["uid-web"]);
  world.failures.tearDown = new Error("volume is busy");
  await assert.rejects(world.run(pod, { kind: "release" }), /busy/);
});

test("an error of a pod's cgroup, and one of its directories, is named as such", async (t) => {
  const [cgroups, files] = [await build(t), await build(t)];
  cgroups.failures.cgroup = new Error("EROFS");
  await assert.rejects(
    cgroups.sandboxOf(podOf(app())),
    (error) => error instanceof PodCgroupError && error.message === "EROFS",
  );
  await writeFile(join(files.root, "pods"), "a file where the folder should be");
  await assert.rejects(files.sandboxOf(podOf(app())), PodDirectoriesError);
});

test("clean-up fails while a volume is busy, and leaves directory and logs until it is not", async (t) => {
  const world = await build(t);
  await world.start(podOf(app()), app());
  world.failures.tearDown = new Error("volume is busy");
  await assert.rejects(world.run(undefined, clean), /busy/);
  assert.deepEqual(await readdir(join(world.root, "pods")), ["uid-web"]);
  assert.deepEqual(await readdir(join(world.root, "log", "pods")), ["default_web_uid-web"]);
  world.failures.tearDown = undefined;
  await world.run(undefined, clean);
  assert.deepEqual(await readdir(join(world.root, "log", "pods")), []);
});
