// Follows the configuration that the Node object assigns: the assignment, then the one ConfigMap that it names. Main
// receives each new text. Loaded only with --dynamic-config-dir.
// Invariant: the kubelet reads only a ConfigMap of --dynamic-config-sources, whatever the Node assigns. At most one
// ConfigMap is watched. Main gets the newest state only, at most once per SEND_GAP_MS, and nothing while the text stays
// the same. Labels, annotations and other keys of the ConfigMap have no effect.

import type { Clock } from "../../../shared/base/clock/clock.js";
import { isRecord } from "../../../shared/base/text/is-record.js";
import { Loop } from "../../../shared/base/turns/loop.js";
import type { ConfigSource } from "../../../shared/contracts/node-status.js";
import { isAllowedSource, notAllowedText } from "../../../shared/kubernetes/api/allowed-config-sources.js";
import type { Returns } from "../../../shared/kubernetes/api/client/connection/presence.js";
import { isForbidden } from "../../../shared/kubernetes/api/client/errors.js";
import { CONFIG_MAPS } from "../../../shared/kubernetes/api/client/kinds.js";
import type { ApiClient } from "../../../shared/kubernetes/api/client/port.js";
import { Reflector } from "../../../shared/kubernetes/api/client/reflector.js";
import type { ConfigMapReference } from "../../../shared/kubernetes/api/config-source.js";
import type { Node } from "../../../shared/kubernetes/api/node.js";
import type { ConfigMap } from "../../../shared/kubernetes/api/objects.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { assignmentOf, type Assignment } from "./assignment.js";

/** Between two assignments, however often the Node changes. */
const SWITCH_GAP_MS = 1000;
const SEND_GAP_MS = 500;
const RETRY_MS = 1000;
/** As large as a ConfigMap may be. */
const MAX_CHARACTERS = 1024 * 1024;
const SHOWN_KEYS = 10;

export interface ConfigSourceDeps {
  /** The entries of --dynamic-config-sources. */
  allowed: readonly string[];
  client: ApiClient;
  presence: Returns;
  clock: Clock;
  log: Logger;
  random: () => number;
  /** Main's upcall. */
  send: (source: ConfigSource) => Promise<void>;
}

export class ConfigSourceFollower {
  private wanted: Assignment;
  private wantedKey: string | undefined;
  private followedKey: string | undefined;
  private reflector: Reflector<ConfigMap> | undefined;
  private state: ConfigSource | undefined;
  private sentKey = "";
  private readonly switching: Loop;
  private readonly sending: Loop;

  constructor(private readonly deps: ConfigSourceDeps) {
    const { clock, log } = deps;
    const failed = (error: unknown): number => {
      log.warn({ err: error }, `main did not accept the assigned configuration; trying again: ${errorText(error)}`);
      return RETRY_MS;
    };
    const common = { periodMs: Infinity, failed, clock };
    this.switching = new Loop({ ...common, gapMs: SWITCH_GAP_MS, round: () => this.follow() });
    this.sending = new Loop({ ...common, gapMs: SEND_GAP_MS, round: () => this.send() });
  }

  /** Each version of the own Node. */
  onNode(node: Node): void {
    const assignment = this.permitted(assignmentOf(node));
    const key = assignment === undefined ? "" : JSON.stringify(assignment);
    if (key === this.wantedKey) return;
    const isFirst = this.wantedKey === undefined;
    this.wantedKey = key;
    this.wanted = assignment;
    if (!isFirst) this.switching.requestRound();
    else {
      this.switching.start();
      this.sending.start();
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.switching.stop(), this.sending.stop()]);
    await this.reflector?.stop();
  }

  private permitted(assignment: Assignment): Assignment {
    const { allowed } = this.deps;
    if (assignment === undefined || "problem" in assignment) return assignment;
    const { reference } = assignment;
    return isAllowedSource(allowed, reference) ? assignment : { problem: notAllowedText(allowed, reference) };
  }

  private async follow(): Promise<undefined> {
    const { wanted, wantedKey } = this;
    if (wantedKey === this.followedKey) return undefined;
    await this.reflector?.stop();
    this.reflector = undefined;
    this.followedKey = wantedKey;
    if (wanted === undefined) this.set({ kind: "local" });
    else if ("problem" in wanted) this.set({ kind: "unavailable", problem: wanted.problem });
    else this.watch(wanted.reference);
    return undefined;
  }

  private watch(wanted: ConfigMapReference): void {
    const { client, presence, clock, log, random } = this.deps;
    this.reflector = new Reflector<ConfigMap>({
      client,
      presence,
      clock,
      log,
      random,
      kind: CONFIG_MAPS,
      namespace: wanted.namespace,
      fieldSelector: `metadata.name=${wanted.name}`,
      onReplace: ([object]) => this.set(object === undefined ? missing(wanted) : sourceOf(wanted, object)),
      onEvent: ({ type, object }) => this.set(type === "DELETED" ? missing(wanted) : sourceOf(wanted, object)),
      // An API server that is away says nothing about the configuration.
      onFailure: (error) => {
        if (isForbidden(error)) this.set(forbidden(wanted, errorText(error)));
      },
    });
    this.reflector.start();
  }

  private set(state: ConfigSource): void {
    this.state = state;
    this.sending.requestRound();
  }

  private async send(): Promise<undefined> {
    const { state } = this;
    if (state === undefined) return undefined;
    const key = keyOf(state);
    if (key === this.sentKey) return undefined;
    await this.deps.send(state);
    this.sentKey = key;
    return undefined;
  }
}

/**
 * Returns one key for all states that mean the same to main. A resourceVersion counts only where the assignment names
 * it.
 */
function keyOf(state: ConfigSource): string {
  if (state.kind !== "config-map") return JSON.stringify(state);
  const { namespace, name, kubeletConfigKey, uid } = state.reference;
  return JSON.stringify([namespace, name, kubeletConfigKey, uid, state.pinned, state.text]);
}

/** What a ConfigMap means for an assignment. */
function sourceOf(wanted: ConfigMapReference, { metadata, data, binaryData }: ConfigMap): ConfigSource {
  const { uid = "", resourceVersion = "" } = metadata;
  const key = wanted.kubeletConfigKey;
  const refuse = (problem: string): ConfigSource => ({ kind: "unavailable", wanted, problem });
  const differs = (member: string, found: string, named: string): ConfigSource =>
    refuse(`${nameOf(wanted)} has ${member} ${found}, and the Node assigns ${named}`);
  if (wanted.uid !== undefined && wanted.uid !== uid) return differs("UID", uid, wanted.uid);
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    return differs("resourceVersion", resourceVersion, wanted.resourceVersion);
  }
  const text: unknown = isRecord(data) && Object.hasOwn(data, key) ? data[key] : undefined;
  if (text === undefined && isRecord(binaryData) && Object.hasOwn(binaryData, key)) {
    return refuse(`key ${key} of ${nameOf(wanted)} is in binaryData; put the text into data`);
  }
  if (text === undefined) return refuse(`${nameOf(wanted)} has no key ${key}; ${keysText(data)}`);
  if (typeof text !== "string") return refuse(`key ${key} of ${nameOf(wanted)} is not a text`);
  if (text.length > MAX_CHARACTERS) {
    return refuse(`key ${key} of ${nameOf(wanted)} is longer than ${MAX_CHARACTERS} characters`);
  }
  const { namespace, name } = wanted;
  const reference = { namespace, name, kubeletConfigKey: key, uid, resourceVersion };
  return { kind: "config-map", reference, text, pinned: wanted.resourceVersion !== undefined };
}

function missing(wanted: ConfigMapReference): ConfigSource {
  return { kind: "unavailable", wanted, problem: `${nameOf(wanted)} does not exist` };
}

function forbidden(wanted: ConfigMapReference, refusal: string): ConfigSource {
  const problem =
    `the API server forbids the node to read ${nameOf(wanted)} (${refusal}): ` +
    "give the group system:nodes the verbs get, list and watch for this ConfigMap by a Role, as docs/dynamic-configuration.md shows";
  return { kind: "unavailable", wanted, problem };
}

function nameOf({ namespace, name }: ConfigMapReference): string {
  return `ConfigMap ${namespace}/${name}`;
}

function keysText(data: unknown): string {
  const keys = isRecord(data) ? Object.keys(data) : [];
  if (keys.length === 0) return "it has no keys in data";
  const shown = keys.slice(0, SHOWN_KEYS).join(", ");
  return `its keys are ${shown}${keys.length > SHOWN_KEYS ? ", …" : ""}`;
}
