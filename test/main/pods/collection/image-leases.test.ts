// An image is never removed between its check and the creation of its container. Tests single cases, then any
// interleaving of starts, pulls, moved tags, removals and thread exits.
// @promise Images and logs: No image is removed between the check for it and the creation of its container. This holds
//   for any interleaving of pulls, moved tags, removals and thread exits.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { ImageLeases } from "../../../../src/main/pods/collection/image-leases.js";
import { ImageUsers } from "../../../../src/main/pods/collection/image-users.js";
import { LeasedImages } from "../../../../src/main/pods/collection/leased-images.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import { ContainerStatus, PodSandboxConfig } from "../../../../src/shared/kubernetes/cri/gen/runtime.v1.js";
import { type ObservedPod, observedContainer } from "../../../../src/shared/kubernetes/cri/observed-pod.js";
import { pod as podOf, container } from "../../../support/pods.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { emptyObservation, settle } from "../../../support/sync-kit.js";

const never = new AbortController().signal;
const A = { id: "sha256:aa", repoTags: ["registry.test/a:1"], repoDigests: [] };
const GENERATION = 3;

function build(used: () => ReadonlySet<string> | undefined = () => new Set()) {
  const clock = new SteppedClock();
  const leases = new ImageLeases(used, clock);
  leases.threadStarted(GENERATION);
  const grant = (generation = GENERATION): string[] => leases.grant({ generation, images: [A] });
  return { clock, leases, grant };
}

/** Whether a promise has settled by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(
    () => (done = true),
    () => (done = true),
  );
  await settle();
  return done;
}

describe("grants", () => {
  test("go to the running thread only, and only while all users are known", () => {
    const { leases, grant } = build();
    assert.deepEqual(grant(GENERATION - 1), []);
    assert.deepEqual(grant(), [A.id]);
    leases.threadGone();
    assert.equal(leases.granted, 0);
    assert.deepEqual(grant(), []);
    assert.deepEqual(build(() => undefined).grant(), []);
  });

  test("no grant is given for an image in use by any of its names, or being made ready", async () => {
    assert.deepEqual(build(() => new Set(["aa"])).grant(), []);
    assert.deepEqual(build(() => new Set(["registry.test/a:1"])).grant(), []);
    const { leases, grant } = build();
    const lease = await leases.lease("registry.test/a:1", never);
    assert.deepEqual(grant(), []);
    lease.end();
    assert.deepEqual(grant(), [A.id]);
  });

  test("a start waits for the release, a new proposal, or the end of the thread", async () => {
    const ends: [string, (leases: ImageLeases) => void][] = [
      ["release", (leases) => leases.release(GENERATION, [A.id])],
      ["proposal", (leases) => leases.grant({ generation: GENERATION, images: [] })],
      ["exit", (leases) => leases.threadGone()],
      ["restart", (leases) => leases.threadStarted(GENERATION + 1)],
    ];
    for (const [what, end] of ends) {
      const { clock, leases, grant } = build();
      grant();
      const begun = leases.lease("registry.test/a:1", never);
      assert.equal(await isDone(begun), false, what);
      // While it waits the image is not granted anew.
      end(leases);
      assert.deepEqual(grant(), [], what);
      (await begun).end();
      assert.equal(clock.pending, 0, "no timer is left");
    }
  });

  test("a release by a thread of before counts for nothing", async () => {
    const { leases, grant } = build();
    grant();
    leases.release(GENERATION - 1, [A.id]);
    assert.equal(leases.granted, 1);
    assert.equal(await isDone(leases.lease("registry.test/b:1", never)), true);
  });

  test("a wait ends with its signal, or with patience", async () => {
    const { clock, leases, grant } = build();
    grant();
    const abort = new AbortController();
    const stopped = leases.lease("registry.test/a:1", abort.signal);
    abort.abort(new Error("the pod goes"));
    await assert.rejects(stopped, /the pod goes/);
    const late = leases.lease("registry.test/a:1", never);
    await settle();
    clock.step(150_000);
    await assert.rejects(late, { name: "ImageBeingRemovedError" });
    leases.release(GENERATION, [A.id]);
    assert.deepEqual(grant(), [A.id], "who gave up holds nothing");
  });

  test("a name that turns out to be an image just removed is looked at again", async () => {
    const { leases, grant } = build();
    grant();
    // Another name of the same image: the caller cannot know.
    const lease = await leases.lease("registry.test/b:1", never);
    leases.release(GENERATION, [A.id]);
    assert.equal(await lease.holds(A.id, never), false);
    assert.equal(await lease.holds(A.id, never), true);
    assert.deepEqual(grant(), []);
  });
});

test("the image of a volume is pulled under a lease as a container's is, and again if it was just removed", async () => {
  const clock = new SteppedClock();
  const wanted = [podOf()];
  const users = new ImageUsers({ observed: () => [], wanted: () => wanted });
  const leases = new ImageLeases(() => users.keys(), clock);
  leases.threadStarted(GENERATION);
  let looks = 0;
  const images = new LeasedImages(
    {
      ensure: () => Promise.reject(new Error("no containers here")),
      ensureVolume: () => {
        // The first inspection finds the image that is being removed under another name.
        if (++looks === 1) leases.release(GENERATION, [A.id]);
        return Promise.resolve({ imageRef: A.id });
      },
    },
    leases,
    users,
  );
  assert.deepEqual(leases.grant({ generation: GENERATION, images: [A] }), [A.id]);
  const volume = { name: "data", image: { reference: "registry.test/data:1" } };
  await images.ensureVolume(podOf(), volume, PodSandboxConfig.fromPartial({}), never);
  assert.equal(looks, 2);
  assert.deepEqual(leases.grant({ generation: GENERATION, images: [A] }), [], "while the pod is wanted");
  wanted.pop();
  assert.deepEqual(leases.grant({ generation: GENERATION, images: [A] }), [A.id]);
});

/** A runtime's images: tags move, pulls make images, removal takes all tags along; every step may be interleaved. */
class Store {
  readonly present = new Map<string, Set<string>>();

  pull(tag: string, id: string): void {
    for (const tags of this.present.values()) tags.delete(tag);
    this.present.set(id, (this.present.get(id) ?? new Set()).add(tag));
  }

  resolve(tag: string): string | undefined {
    return [...this.present].find(([, tags]) => tags.has(tag))?.[0];
  }

  list() {
    return [...this.present].map(([id, tags]) => ({ id, repoTags: [...tags], repoDigests: [] }));
  }
}

const TAGS = ["registry.test/a:1", "registry.test/b:1", "registry.test/c:1"];
const IDS = ["sha256:11", "sha256:22"];

test("for every interleaving the image exists when the container is created", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.nat({ max: 5 }), { minLength: 4, maxLength: 12 }),
      async (s, seeds) => {
        const store = new Store();
        const clock = new SteppedClock();
        const wanted = new Map<string, Pod>();
        const observed = new Map<string, ObservedPod>();
        const users = new ImageUsers({ observed: () => observed.values(), wanted: () => wanted.values() });
        const leases = new ImageLeases(() => users.keys(), clock);
        let generation = 1;
        leases.threadStarted(generation);
        const turn = (what: string): Promise<void> => s.schedule(Promise.resolve(), what);
        const images = new LeasedImages(
          {
            ensure: async (_pod, { image = "" }) => {
              await turn(`look ${image}`);
              // A tag may stand for another image at every pull.
              if (store.resolve(image) === undefined)
                store.pull(image, IDS[(image.length + store.present.size) % 2] ?? "");
              const imageRef = store.resolve(image) ?? "";
              await turn(`answer ${image}`);
              return { imageRef, user: {} };
            },
            ensureVolume: () => Promise.reject(new Error("no volumes here")),
          },
          leases,
          users,
        );
        const start = async (index: number): Promise<void> => {
          const image = TAGS[index % TAGS.length] ?? "";
          const uid = `pod-${index}`;
          const pod = podOf({ containers: [container("app", { image })] }, uid, uid);
          await turn(`want ${uid}`);
          wanted.set(uid, pod);
          const ready = await images.ensure(
            pod,
            pod.spec.containers[0] ?? container("app"),
            PodSandboxConfig.fromPartial({}),
            new AbortController().signal,
          );
          await turn(`create ${uid}`);
          assert.ok(store.present.has(ready.imageRef), `image ${ready.imageRef} is gone before its container is made`);
          const status = observedContainer(ContainerStatus.fromPartial({ id: uid, imageRef: ready.imageRef }));
          await turn(`seen ${uid}`);
          observed.set(uid, { ...emptyObservation(uid, 1), containers: [status] });
          await turn(`gone ${uid}`);
          wanted.delete(uid);
          observed.delete(uid);
        };
        const collect = async (): Promise<void> => {
          const mine = generation;
          const listed = store.list();
          await turn("propose");
          const granted = leases.grant({ generation: mine, images: listed });
          for (const id of granted) {
            await turn(`remove ${id}`);
            // A thread that is gone removes nothing any more.
            if (mine !== generation) return;
            store.present.delete(id);
            await turn(`removed ${id}`);
            leases.release(mine, [id]);
          }
        };
        const move = async (): Promise<void> => {
          await turn("another tag");
          // Another pod pulls, under a lease of its own.
          const image = TAGS[0] ?? "";
          const lease = await leases.lease(image, new AbortController().signal);
          await turn("pull");
          store.pull(image, IDS[0] ?? "");
          lease.end();
        };
        const restart = async (): Promise<void> => {
          await turn("thread ends");
          const next = ++generation;
          leases.threadGone();
          await turn("thread runs");
          // The supervisor starts each generation once: a thread that ended before it ran is not started.
          if (next === generation) leases.threadStarted(next);
        };
        // The thread is serial: its collections follow each other.
        let thread: Promise<void> = Promise.resolve();
        const jobs = seeds.map((seed, index) => {
          if (seed <= 2) return start(index);
          if (seed === 3) return move();
          if (seed === 5 && index % 3 === 0) return restart();
          thread = thread.then(collect);
          return thread;
        });
        await s.waitFor(Promise.all(jobs));
        leases.threadGone();
        assert.equal(clock.pending, 0, "no wait is left");
      },
    ),
    { numRuns: 400 },
  );
});
