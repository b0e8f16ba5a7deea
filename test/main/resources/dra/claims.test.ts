// Claims: prepared once for all pods that use them, unprepared with the last, and never forgotten in between.

import assert from "node:assert/strict";
import { beforeEach, describe, test, type TestContext } from "node:test";
import { ClaimStore } from "../../../../src/main/resources/dra/claim-store.js";
import { Claims } from "../../../../src/main/resources/dra/claims.js";
import type { ClaimRef, DriverClient } from "../../../../src/main/resources/dra/driver-port.js";
import { systemClock } from "../../../../src/shared/base/clock/clock.js";
import type { ResourceClaim } from "../../../../src/shared/kubernetes/api/objects.js";
import type { PodStatus } from "../../../../src/shared/kubernetes/api/pod-status.js";
import type { Pod, PodSpec } from "../../../../src/shared/kubernetes/api/pod.js";
import { podUid } from "../../../../src/shared/kubernetes/identifiers.js";
import { pod as makePod } from "../../../support/pods.js";
import { keptLog, temporaryFolder, until } from "../../../support/sources-kit.js";

const never = new AbortController().signal;
const GPU = "gpu.example.com";

type Reply = Awaited<ReturnType<DriverClient["prepare"]>> extends ReadonlyMap<string, infer Claim> ? Claim : never;

class World {
  readonly calls: string[] = [];
  readonly objects = new Map<string, ResourceClaim>();
  readonly statuses = new Map<string, Partial<PodStatus>>();
  readonly operations: string[] = [];
  registered = true;
  /** Gate DRAExtendedResource. */
  extendedResources = true;
  /** Gate DRAWorkloadResourceClaims. */
  podGroups = false;
  /** By claim: what the driver replies. */
  reply: (claim: ClaimRef) => Reply | undefined = ({ name }) => ({
    error: "",
    devices: [{ pool: "p", device: name, requests: ["one"], cdiDevices: [`example.com/gpu=${name}`] }],
  });
  unprepareError = "";
  /** Promise that the driver awaits before it replies. */
  hang: Promise<void> = Promise.resolve();

  constructor(readonly rootDir: string) {}

  async start(): Promise<{ claims: Claims; store: ClaimStore }> {
    const store = new ClaimStore(this.rootDir, systemClock, keptLog().log);
    await store.load();
    const driver = (name: string): DriverClient => {
      if (!this.registered) throw new Error(`DRA driver ${name} is not registered`);
      return {
        prepare: async (refs) => {
          this.calls.push(`prepare ${refs.map((ref) => ref.name).join()}`);
          await this.hang;
          return new Map(
            refs.flatMap((ref) => {
              const reply = this.reply(ref);
              return reply === undefined ? [] : [[ref.uid, reply] as const];
            }),
          );
        },
        unprepare: (refs) => {
          this.calls.push(`unprepare ${refs.map((ref) => ref.name).join()}`);
          return Promise.resolve(new Map(refs.map((ref) => [ref.uid, this.unprepareError])));
        },
        watchHealth: () => Promise.resolve(),
        watchConnection: () => undefined,
        close: () => undefined,
      };
    };
    const claims = new Claims({
      store,
      driver,
      readClaim: (_namespace, name) => {
        const claim = this.objects.get(name);
        return claim === undefined
          ? Promise.reject(new Error(`resourceclaims "${name}" not found`))
          : Promise.resolve(claim);
      },
      extendedResources: this.extendedResources,
      podGroups: this.podGroups,
      apiStatus: (uid) => this.statuses.get(uid) as PodStatus | undefined,
      observe: { operation: (name, _seconds, failed) => this.operations.push(`${name} ${failed ? "failed" : "ok"}`) },
      clock: systemClock,
    });
    return { claims, store };
  }

  claim(name: string, users: readonly string[], uid = `${name}-uid`): void {
    this.objects.set(name, {
      metadata: { name, uid, namespace: "default" },
      status: {
        allocation: { devices: { results: [{ request: "one", driver: GPU, pool: "p", device: name }] } },
        reservedFor: users.map((user) => ({ resource: "pods", name: user, uid: user })),
      },
    });
  }
}

function podWith(uid: string, claims: PodSpec["resourceClaims"], uses?: { name: string; request?: string }[]): Pod {
  const pod = makePod({
    ...(claims !== undefined && { resourceClaims: claims }),
    containers: [{ name: "app", image: "a:1", resources: uses === undefined ? {} : { claims: uses } }],
  });
  return { ...pod, metadata: { ...pod.metadata, uid: podUid(uid), name: uid, namespace: "default" } };
}

const direct = (uid: string, claim = "gpu"): Pod =>
  podWith(uid, [{ name: "c", resourceClaimName: claim }], [{ name: "c" }]);

function devicesOf(claims: Claims, pod: Pod): string[] {
  const [app] = pod.spec.containers;
  return app === undefined ? [] : claims.cdiDevices(pod, app);
}

describe("claims of pods", () => {
  let world: World;
  beforeEach(async (t) => {
    world = new World(await temporaryFolder(t as TestContext));
  });

  test("a pod without claims calls nothing", async () => {
    const { claims } = await world.start();
    await claims.prepare(makePod(), never);
    assert.deepEqual([world.calls, world.operations], [[], []]);
  });

  test("a claim is prepared once for two pods, and unprepared with the last of them", async () => {
    const { claims, store } = await world.start();
    world.claim("gpu", ["a", "b"]);
    await Promise.all([claims.prepare(direct("a"), never), claims.prepare(direct("b"), never)]);
    assert.deepEqual(devicesOf(claims, direct("a")), ["example.com/gpu=gpu"]);
    await claims.unprepare(podUid("a"), never);
    await claims.unprepare(podUid("a"), never);
    assert.deepEqual(world.calls, ["prepare gpu"]);
    assert.deepEqual([claims.holds(direct("a")), claims.holds(direct("b"))], [false, true]);
    await claims.unprepare(podUid("b"), never);
    assert.deepEqual([world.calls, store.all()], [["prepare gpu", "unprepare gpu"], []]);
  });

  test("a container gets the devices of its requests only", async () => {
    const { claims } = await world.start();
    world.claim("gpu", ["a"]);
    const other = podWith("a", [{ name: "c", resourceClaimName: "gpu" }], [{ name: "c", request: "two" }]);
    await claims.prepare(other, never);
    assert.deepEqual(devicesOf(claims, other), []);
    const one = podWith("a", [{ name: "c", resourceClaimName: "gpu" }], [{ name: "c", request: "one" }]);
    assert.deepEqual(devicesOf(claims, one), ["example.com/gpu=gpu"]);
    assert.deepEqual(devicesOf(claims, podWith("a", [{ name: "c", resourceClaimName: "gpu" }])), []);
  });

  const refusals: Record<
    string,
    { message: RegExp; pod?: Pod; status?: Partial<PodStatus>; arrange?: (world: World) => void }
  > = {
    "a claim that is not there": {
      message: /: fetch ResourceClaim gpu: .*not found/,
      arrange: ({ objects }) => objects.clear(),
    },
    "a claim that is reserved for others": { message: /not allowed to use/, arrange: (one) => one.claim("gpu", ["b"]) },
    "a claim that is not allocated": {
      message: /not allocated/,
      arrange: ({ objects }) =>
        objects.set("gpu", {
          metadata: { name: "gpu", uid: "u" },
          status: { reservedFor: [{ resource: "pods", name: "a", uid: "a" }] },
        }),
    },
    "a driver that is not registered": {
      message: /DRA driver gpu\.example\.com is not registered/,
      arrange: (one) => (one.registered = false),
    },
    "a template whose claim is not made": {
      message: /: pod "default\/a": ResourceClaim not created yet \(pod claim c, template t\)$/,
      pod: podWith("a", [{ name: "c", resourceClaimTemplateName: "t" }]),
    },
    "a template's claim of another pod": {
      message: /: ResourceClaim default\/gpu was not created for Pod default\/a \(Pod is not owner\)$/,
      pod: podWith("a", [{ name: "c", resourceClaimTemplateName: "t" }]),
      status: { resourceClaimStatuses: [{ name: "c", resourceClaimName: "gpu" }] },
    },
  };
  for (const [what, { message, pod = direct("a"), status, arrange }] of Object.entries(refusals)) {
    test(`${what}: the pod waits, and leaves nothing to unprepare`, async () => {
      const { claims, store } = await world.start();
      world.claim("gpu", ["a"]);
      arrange?.(world);
      if (status !== undefined) world.statuses.set("a", status);
      await assert.rejects(claims.prepare(pod, never), message);
      assert.deepEqual([world.calls, store.all()], [[], []]);
    });
  }

  const failures: Record<string, { message: RegExp; reply: World["reply"] }> = {
    "an error of the driver": {
      message: /failed for ResourceClaim gpu: no such device/,
      reply: () => ({ error: "no such device", devices: [] }),
    },
    "a reply without the claim": { message: /skipped 1 ResourceClaims/, reply: () => undefined },
  };
  for (const [what, { message, reply }] of Object.entries(failures)) {
    test(`${what}: the claim stays known until it is unprepared`, async () => {
      const { claims, store } = await world.start();
      world.claim("gpu", ["a"]);
      world.reply = reply;
      await assert.rejects(claims.prepare(direct("a"), never), message);
      assert.equal(store.of(podUid("a")).length, 1);
      await claims.unprepare(podUid("a"), never);
      assert.deepEqual(world.calls, ["prepare gpu", "unprepare gpu"]);
    });
  }

  test("the next kubelet prepares again before it starts containers, and unprepares claims of removed pods", async () => {
    const before = await world.start();
    world.claim("gpu", ["a"]);
    await before.claims.prepare(direct("a"), never);
    const { claims, store } = await world.start();
    assert.deepEqual([...claims.inactive(new Set())], ["a"]);
    assert.deepEqual([...claims.inactive(new Set([podUid("a")]))], []);
    assert.deepEqual(devicesOf(claims, direct("a")), ["example.com/gpu=gpu"]);
    await claims.prepare(direct("a"), never);
    await claims.prepare(direct("a"), never);
    assert.deepEqual(world.calls, ["prepare gpu", "prepare gpu"]);
    await claims.unprepare(podUid("a"), never);
    assert.deepEqual(store.all(), []);
  });

  test("a driver that cannot unprepare keeps the claim for the next try", async () => {
    const { claims, store } = await world.start();
    world.claim("gpu", ["a"]);
    await claims.prepare(direct("a"), never);
    world.unprepareError = "busy";
    await assert.rejects(claims.unprepare(podUid("a"), never), /NodeUnprepareResources.*busy/);
    assert.equal(store.of(podUid("a")).length, 1);
    world.unprepareError = "";
    await claims.unprepare(podUid("a"), never);
    assert.deepEqual(store.all(), []);
    assert.deepEqual(world.operations, ["PrepareResources ok", "UnprepareResources failed", "UnprepareResources ok"]);
  });

  test("a driver that hangs delays the pods of its claim, and no others", async () => {
    const { claims, store } = await world.start();
    world.claim("stuck", ["a", "b"]);
    world.claim("gpu", ["c"]);
    let answer = (): void => undefined;
    world.hang = new Promise<void>((resolve) => (answer = resolve));
    const [first, second] = [claims.prepare(direct("a", "stuck"), never), claims.prepare(direct("b", "stuck"), never)];
    await until("the call", () => world.calls.length === 1);
    world.hang = Promise.resolve();
    await claims.prepare(direct("c"), never);
    assert.deepEqual(world.calls, ["prepare stuck", "prepare gpu"]);
    assert.equal(store.of(podUid("b")).length, 0);
    answer();
    await Promise.all([first, second]);
    assert.equal(store.of(podUid("b")).length, 1);
  });

  test("the claims of a container are those that its resources name, once they are prepared", async () => {
    const { claims } = await world.start();
    world.claim("made", ["a"]);
    const object = world.objects.get("made");
    if (object !== undefined) {
      object.metadata.ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "a", uid: "a", controller: true }];
    }
    const user = podWith(
      "a",
      [{ name: "c", resourceClaimTemplateName: "template" }],
      [{ name: "c", request: "one" }, { name: "unknown" }],
    );
    const [app] = user.spec.containers;
    assert.ok(app);
    assert.deepEqual(claims.ofContainer(user, app), []);
    world.statuses.set("a", { resourceClaimStatuses: [{ name: "c", resourceClaimName: "made" }] });
    assert.deepEqual(claims.ofContainer(user, app), []);
    await claims.prepare(user, never);
    assert.deepEqual(
      claims.ofContainer(user, app).map(({ podName, request, state }) => [podName, request, state.name]),
      [["c", "one", "made"]],
    );
    assert.deepEqual(claims.listed(user, { ...app, resources: {} }), []);
  });

  test("a claim of the same name with another UID waits for the end of the older one", async () => {
    const { claims } = await world.start();
    world.claim("gpu", ["a"]);
    await claims.prepare(direct("a"), never);
    world.claim("gpu", ["b"], "another");
    await assert.rejects(claims.prepare(direct("b"), never), /older ResourceClaim of the name gpu/);
    await claims.unprepare(podUid("a"), never);
    await claims.prepare(direct("b"), never);
  });

  test("the claim of extended resources serves the containers that requested them", async () => {
    const { claims } = await world.start();
    world.claim("extended", ["a"]);
    const object = world.objects.get("extended");
    if (object !== undefined) {
      object.metadata.ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "a", uid: "a", controller: true }];
    }
    world.statuses.set("a", {
      extendedResourceClaimStatus: {
        resourceClaimName: "extended",
        requestMappings: [{ containerName: "app", resourceName: "example.com/gpu", requestName: "one" }],
      },
    });
    const plain = podWith("a", undefined);
    const [app] = plain.spec.containers;
    if (app !== undefined) app.resources = { requests: { "example.com/gpu": "1" } };
    await claims.prepare(plain, never);
    assert.deepEqual(devicesOf(claims, plain), ["example.com/gpu=extended"]);
    assert.ok(app);
    assert.deepEqual(
      claims.listed(plain, app).map(({ name }) => name),
      ["extended"],
    );

    world.extendedResources = false;
    const { claims: without } = await world.start();
    assert.deepEqual([devicesOf(without, plain), without.listed(plain, app)], [[], []]);
  });
});

describe("the claim of a PodGroup", () => {
  const ofGroup = { apiGroup: "scheduling.k8s.io", resource: "podgroups", name: "workers", uid: "group" };
  const owner = {
    apiVersion: "scheduling.k8s.io/v1alpha2",
    kind: "PodGroup",
    name: "workers",
    uid: "group",
    controller: true,
  };
  const reserved = "it is not in status.reservedFor";
  const neither = "neither Pod nor PodGroup workers is the owner";
  interface Row {
    gate?: boolean;
    group?: string;
    user?: Partial<typeof ofGroup>;
    owner?: Partial<typeof owner>;
    problem?: string;
  }
  const rows: Record<string, Row> = {
    "is used by a pod of the group": {},
    "is refused without the gate": { gate: false, problem: "Pod is not owner" },
    "is refused to a pod of no group": { group: "", problem: "Pod is not owner" },
    "is refused to a pod of another group": {
      group: "others",
      problem: "neither Pod nor PodGroup others is the owner",
    },
    "is refused when another object of that name owns it": { owner: { kind: "Workload" }, problem: neither },
    "is refused when another API's PodGroup owns it": { owner: { apiVersion: "x.io/v1" }, problem: neither },
    "is used when a later version of the API owns it": { owner: { apiVersion: "scheduling.k8s.io/v1" } },
    "is refused while it is reserved for another group": { user: { name: "others" }, problem: reserved },
    "is refused while it is reserved for another API's object": { user: { apiGroup: "x.io" }, problem: reserved },
    "is refused while it is reserved for another kind of object": {
      user: { resource: "workloads" },
      problem: reserved,
    },
  };
  for (const [what, { gate = true, group = "workers", user, owner: changed, problem }] of Object.entries(rows)) {
    test(what, async (t) => {
      const one = new World(await temporaryFolder(t));
      one.podGroups = gate;
      one.claim("gpu", []);
      const claim = one.objects.get("gpu");
      assert.ok(claim?.status);
      claim.metadata.ownerReferences = [{ ...owner, ...changed }];
      claim.status.reservedFor = [{ ...ofGroup, ...user }];
      one.statuses.set("a", { resourceClaimStatuses: [{ name: "c", resourceClaimName: "gpu" }] });
      const subject = podWith("a", [{ name: "c", resourceClaimTemplateName: "t" }]);
      if (group !== "") subject.spec.schedulingGroup = { podGroupName: group };
      const { claims } = await one.start();
      const preparing = claims.prepare(subject, never);
      if (problem === undefined) await preparing;
      else await assert.rejects(preparing, { message: new RegExp(problem) });
      assert.deepEqual(one.calls, problem === undefined ? ["prepare gpu"] : []);
    });
  }
});
