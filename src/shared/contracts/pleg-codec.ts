// Binary form of the pleg queues' records: protobuf wire primitives, and the CRI messages as the runtime sent them.

import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { ContainerStatus, PodSandboxStatus } from "../kubernetes/cri/gen/runtime.v1.js";
import {
  type ObservedContainer,
  type ObservedSandbox,
  observedContainer,
  observedSandbox,
} from "../kubernetes/cri/observed-pod.js";
import { containerIdOf, type PodUid, podUid, type ContainerId } from "../kubernetes/identifiers.js";
import type {
  InspectHint,
  InspectRequest,
  PlegWireRecord,
  PodHead,
  PodPart,
  RuntimeDetails,
  RuntimeState,
} from "./pleg.js";
import { RecordError } from "./record-error.js";

const HINT_KINDS = ["sandbox", "container", "sandbox-removed", "container-removed", "relist", "recheck"] as const;

export const inspectRequestCodec = {
  encode(request: InspectRequest): Uint8Array {
    const writer = new BinaryWriter().string(request.uid).uint32(request.generation).uint32(request.hints.length);
    for (const hint of request.hints) writer.uint32(HINT_KINDS.indexOf(hint.kind)).string(hint.id);
    return writer.finish();
  },
  decode(bytes: Uint8Array): InspectRequest {
    const reader = new BinaryReader(bytes);
    const uid = podUid(reader.string());
    const generation = reader.uint32();
    const hints: InspectHint[] = [];
    for (let left = reader.uint32(); left > 0; left--) {
      const kind = HINT_KINDS[reader.uint32()];
      if (kind === undefined) throw new RecordError("inspect request with an unknown hint kind");
      hints.push({ kind, id: reader.string() } as InspectHint);
    }
    return { uid, generation, hints };
  },
};

const TAG_POD_HEAD = 1;
const TAG_RELISTED = 2;
const TAG_RUNTIME = 3;
const TAG_INSPECT_FAILED = 4;
const TAG_POD_PART = 5;

export const plegRecordCodec = {
  encode(record: PlegWireRecord): Uint8Array {
    switch (record.kind) {
      case "pod-head":
        return encodeHead(record);
      case "pod-part":
        return encodePart(record);
      case "relisted": {
        const writer = new BinaryWriter().uint32(TAG_RELISTED).double(record.durationMs).uint32(record.uids.length);
        for (const uid of record.uids) writer.string(uid);
        return writer.finish();
      }
      case "runtime":
        return encodeRuntime(record.state);
      case "inspect-failed":
        return new BinaryWriter()
          .uint32(TAG_INSPECT_FAILED)
          .string(record.uid)
          .uint32(record.generation)
          .string(record.code)
          .string(record.message)
          .finish();
    }
  },
  decode(bytes: Uint8Array): PlegWireRecord {
    const reader = new BinaryReader(bytes);
    const tag = reader.uint32();
    switch (tag) {
      case TAG_POD_HEAD:
        return decodeHead(reader);
      case TAG_POD_PART:
        return decodePart(reader);
      case TAG_RELISTED: {
        const durationMs = reader.double();
        const uids: PodUid[] = [];
        for (let left = reader.uint32(); left > 0; left--) uids.push(podUid(reader.string()));
        return { kind: "relisted", uids, durationMs };
      }
      case TAG_RUNTIME:
        return { kind: "runtime", state: decodeRuntime(reader) };
      case TAG_INSPECT_FAILED:
        return {
          kind: "inspect-failed",
          uid: podUid(reader.string()),
          generation: reader.uint32(),
          code: reader.string(),
          message: reader.string(),
        };
      default:
        throw new RecordError(`pleg record with unknown tag ${tag}`);
    }
  },
};

/** Equal bytes mean that the runtime's state of the pod's sandboxes has not changed. */
export function encodeSandboxes({ uid, namespace, name, sandboxes }: PodHead["observed"]): Uint8Array {
  const writer = new BinaryWriter().string(uid).string(namespace).string(name).uint32(sandboxes.length);
  for (const sandbox of sandboxes) writer.bytes(PodSandboxStatus.encode(sandbox).finish());
  return writer.finish();
}

export function encodeContainer(status: ObservedContainer): Uint8Array {
  return ContainerStatus.encode(status).finish();
}

function encodeHead({ fresh, total, observed }: PodHead): Uint8Array {
  return new BinaryWriter()
    .uint32(TAG_POD_HEAD)
    .bool(fresh)
    .uint32(total)
    .uint32(observed.generation)
    .double(observed.observedAt)
    .raw(encodeSandboxes(observed))
    .finish();
}

function decodeHead(reader: BinaryReader): PodHead {
  const fresh = reader.bool();
  const total = reader.uint32();
  const generation = reader.uint32();
  const observedAt = reader.double();
  const uid = podUid(reader.string());
  const namespace = reader.string();
  const name = reader.string();
  const sandboxes: ObservedSandbox[] = [];
  for (let left = reader.uint32(); left > 0; left--)
    sandboxes.push(observedSandbox(PodSandboxStatus.decode(reader.bytes())));
  return { kind: "pod-head", fresh, total, observed: { uid, namespace, name, sandboxes, generation, observedAt } };
}

function encodePart({ uid, fresh, changed, removed }: PodPart): Uint8Array {
  const writer = new BinaryWriter().uint32(TAG_POD_PART).string(uid).bool(fresh).uint32(changed.length);
  for (const status of changed) writer.bytes(encodeContainer(status));
  writer.uint32(removed.length);
  for (const id of removed) writer.string(id);
  return writer.finish();
}

function decodePart(reader: BinaryReader): PodPart {
  const uid = podUid(reader.string());
  const fresh = reader.bool();
  const changed: ObservedContainer[] = [];
  for (let left = reader.uint32(); left > 0; left--)
    changed.push(observedContainer(ContainerStatus.decode(reader.bytes())));
  const removed: ContainerId[] = [];
  for (let left = reader.uint32(); left > 0; left--) removed.push(containerIdOf(reader.string()));
  return { kind: "pod-part", uid, fresh, changed, removed };
}

function encodeRuntime(state: RuntimeState): Uint8Array {
  return (
    new BinaryWriter()
      .uint32(TAG_RUNTIME)
      .bool(state.reachable)
      .bool(state.runtimeReady)
      .bool(state.networkReady)
      .bool(state.events)
      .string(state.name)
      .string(state.version)
      .string(state.message)
      // Sent once per change: its form need not be compact.
      .string(state.details === undefined ? "" : JSON.stringify(state.details))
      .finish()
  );
}

function decodeRuntime(reader: BinaryReader): RuntimeState {
  const state: RuntimeState = {
    reachable: reader.bool(),
    runtimeReady: reader.bool(),
    networkReady: reader.bool(),
    events: reader.bool(),
    name: reader.string(),
    version: reader.string(),
    message: reader.string(),
  };
  const details = reader.string();
  return details === "" ? state : { ...state, details: JSON.parse(details) as RuntimeDetails };
}
