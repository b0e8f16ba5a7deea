// Binary form of the pleg queues' records: protobuf wire primitives, and the CRI messages as the runtime sent them.
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { ContainerStatus, PodSandboxStatus } from "../cri/gen/runtime.v1.js";
import type { ObservedPod } from "../cri/observed-pod.js";
import type { InspectHint, InspectRequest, PlegRecord, RuntimeDetails, RuntimeState } from "./pleg.js";

/** A record that can't be read: the two sides disagree, or memory was overwritten. */
class PlegRecordError extends Error {
  override readonly name = "PlegRecordError";
}

const HINT_KINDS = ["sandbox", "container", "sandbox-removed", "container-removed", "relist", "recheck"] as const;

export const inspectRequestCodec = {
  encode(request: InspectRequest): Uint8Array {
    const writer = new BinaryWriter().string(request.uid).uint32(request.generation).uint32(request.hints.length);
    for (const hint of request.hints) writer.uint32(HINT_KINDS.indexOf(hint.kind)).string(hint.id);
    return writer.finish();
  },
  decode(bytes: Uint8Array): InspectRequest {
    const reader = new BinaryReader(bytes);
    const uid = reader.string();
    const generation = reader.uint32();
    const hints: InspectHint[] = [];
    for (let left = reader.uint32(); left > 0; left--) {
      const kind = HINT_KINDS[reader.uint32()];
      if (kind === undefined) throw new PlegRecordError("inspect request with an unknown hint kind");
      hints.push({ kind, id: reader.string() });
    }
    return { uid, generation, hints };
  },
};

const TAG_POD = 1;
const TAG_RELISTED = 2;
const TAG_RUNTIME = 3;
const TAG_INSPECT_FAILED = 4;

export const plegRecordCodec = {
  encode(record: PlegRecord): Uint8Array {
    switch (record.kind) {
      case "pod":
        return encodePod(record.observed);
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
  decode(bytes: Uint8Array): PlegRecord {
    const reader = new BinaryReader(bytes);
    const tag = reader.uint32();
    switch (tag) {
      case TAG_POD:
        return { kind: "pod", observed: decodePod(reader) };
      case TAG_RELISTED: {
        const durationMs = reader.double();
        const uids: string[] = [];
        for (let left = reader.uint32(); left > 0; left--) uids.push(reader.string());
        return { kind: "relisted", uids, durationMs };
      }
      case TAG_RUNTIME:
        return { kind: "runtime", state: decodeRuntime(reader) };
      case TAG_INSPECT_FAILED:
        return {
          kind: "inspect-failed",
          uid: reader.string(),
          generation: reader.uint32(),
          code: reader.string(),
          message: reader.string(),
        };
      default:
        throw new PlegRecordError(`pleg record with unknown tag ${tag}`);
    }
  },
};

/** The part of a pod record with the runtime's state: equal bytes mean nothing changed. */
export function encodeObservedState(observed: ObservedPod): Uint8Array {
  const writer = new BinaryWriter().string(observed.uid).string(observed.namespace).string(observed.name);
  writer.uint32(observed.sandboxes.length);
  for (const sandbox of observed.sandboxes) writer.bytes(PodSandboxStatus.encode(sandbox).finish());
  writer.uint32(observed.containers.length);
  for (const container of observed.containers) writer.bytes(ContainerStatus.encode(container).finish());
  return writer.finish();
}

function encodePod(observed: ObservedPod): Uint8Array {
  return new BinaryWriter()
    .uint32(TAG_POD)
    .uint32(observed.generation)
    .double(observed.observedAt)
    .raw(encodeObservedState(observed))
    .finish();
}

function decodePod(reader: BinaryReader): ObservedPod {
  const generation = reader.uint32();
  const observedAt = reader.double();
  const uid = reader.string();
  const namespace = reader.string();
  const name = reader.string();
  const sandboxes: PodSandboxStatus[] = [];
  for (let left = reader.uint32(); left > 0; left--) sandboxes.push(PodSandboxStatus.decode(reader.bytes()));
  const containers: ContainerStatus[] = [];
  for (let left = reader.uint32(); left > 0; left--) containers.push(ContainerStatus.decode(reader.bytes()));
  return { uid, namespace, name, sandboxes, containers, generation, observedAt };
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
