// An API server and a signer, played by the test, for what asks them for certificates of pods; virtual time.

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { NodePodCertificates } from "../../../../src/main/cluster/pod-certificates/pod-certificates.js";
import { ApiError } from "../../../../src/shared/kubernetes/api/client/errors.js";
import type { ApiClient, ResourceKind } from "../../../../src/shared/kubernetes/api/client/port.js";
import type { Node } from "../../../../src/shared/kubernetes/api/node.js";
import type { PodCertificateRequest } from "../../../../src/shared/kubernetes/api/objects.js";
import type { Pod } from "../../../../src/shared/kubernetes/api/pod.js";
import type { PodCertificateProjection } from "../../../../src/shared/kubernetes/api/volume.js";
import { ThreadRegistry } from "../../../../src/shared/telemetry/metrics/thread-registry.js";
import { pod } from "../../../support/pods.js";
import { silentLog } from "../../../support/silent.js";
import { SteppedClock } from "../../../support/stepped-clock.js";
import { followKit } from "../follow-kit.js";

export const MINUTE = 60_000;
export const WATCH = "spec.nodeName=n1";
export const log = silentLog;
export const never = new AbortController().signal;
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
};

export function podWith(...sources: Partial<PodCertificateProjection>[]): Pod {
  const all = sources.map((source) => ({
    podCertificate: { signerName: "example.com/s", keyType: "ED25519", credentialBundlePath: "c", ...source },
  }));
  const made = pod({ serviceAccountName: "robot", volumes: [{ name: "v", projected: { sources: all } }] });
  return { ...made, metadata: { ...made.metadata, annotations: {} } };
}

export function certificatesKit(t: TestContext) {
  const clock = new SteppedClock();
  const { all, follow, event, replace, live } = followKit();
  const created: PodCertificateRequest[] = [];
  const events: string[] = [];
  const changed: string[] = [];
  const keys: string[] = [];
  /** The error of the next calls. */
  const refusals: Error[] = [];
  /** What the API server has; 1.36 has this one. */
  const served = { version: "v1beta1" };
  /** Called before the answer to a creation. */
  let before: (name: string) => void = () => undefined;
  const client = {
    get: () => Promise.resolve({ metadata: { uid: "sa-uid" } }),
    create: ({ version }: ResourceKind<PodCertificateRequest>, request: PodCertificateRequest) => {
      if (version !== served.version) return Promise.reject(notServed());
      const refusal = refusals.shift();
      if (refusal !== undefined) return Promise.reject(refusal);
      created.push(request);
      const name = `req-${created.length}`;
      before(name);
      return Promise.resolve({
        ...request,
        metadata: { ...request.metadata, name, creationTimestamp: new Date(clock.now()).toISOString() },
      });
    },
  } as unknown as Pick<ApiClient, "get" | "create">;
  const registry = new ThreadRegistry("main");
  const deps = {
    client,
    follow,
    nodeName: "n1",
    node: () => ({ metadata: { uid: "node-uid" } }) as Node,
    makeKey: (keyType: string) => {
      keys.push(keyType);
      const made = { key: `KEY${keys.length}\n`, request: `CSR${keys.length}` };
      return Promise.resolve(keyType === "ODD" ? undefined : made);
    },
    onChange: (uid: string) => void changed.push(uid),
    events: {
      pod: (_pod: Pod, { reason, message }: { reason: string; message: string }) =>
        void events.push(`${reason}: ${message}`),
    },
    registry,
    clock,
    log,
    random: () => 0,
  };
  const certificates = new NodePodCertificates(deps);
  t.after(() => certificates.stop());
  /** A request as the watch shows it. */
  const request = (index: number, status: PodCertificateRequest["status"] = {}): PodCertificateRequest => {
    const made = created[index - 1];
    assert.ok(made !== undefined, `request ${index} was made`);
    return { ...made, metadata: { ...made.metadata, name: `req-${index}` }, status };
  };
  const issue = (index: number, fromMinute: number): PodCertificateRequest =>
    request(index, {
      conditions: [{ type: "Issued", status: "True" }],
      certificateChain: `-----BEGIN CERTIFICATE-----\n${Buffer.from(`cert${index}`).toString("base64")}\n-----END CERTIFICATE-----\n`,
      beginRefreshAt: new Date((fromMinute + 60) * MINUTE).toISOString(),
      notAfter: new Date((fromMinute + 90) * MINUTE).toISOString(),
    });
  const say = (what: PodCertificateRequest): void => event(WATCH, "MODIFIED", what);
  const keyNow = async (of: Pod, index = 0): Promise<string> =>
    (await certificates.get({ pod: of, volume: "v", index }, never)).key.trim();
  const states = async (): Promise<string[]> => {
    const { families } = await registry.exportSnapshot();
    const family = families.find(({ name }) => name === "kubelet_podcertificate_states");
    return (family?.samples ?? []).map(({ labels, value }) => `${labels["signer_name"]} ${labels["state"]} ${value}`);
  };
  /** The version of the requests that are watched. */
  const watchedVersions = (): string[] => all.filter(({ ended }) => !ended).map(({ options }) => options.kind.version);
  return {
    ...{
      deps,
      clock,
      certificates,
      created,
      keys,
      events,
      changed,
      refusals,
      served,
      watchedVersions,
      request,
      issue,
      say,
      event,
      replace,
      live,
    },
    ...{ keyNow, states, onCreate: (call: (name: string) => void) => void (before = call) },
  };
}

function notServed(): ApiError {
  return new ApiError(404, "NotFound", "the server could not find the requested resource");
}

/** Steps in minutes, so that every look comes about. */
export async function pass(clock: SteppedClock, minutes: number): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    clock.step(MINUTE);
    await settled();
  }
}
