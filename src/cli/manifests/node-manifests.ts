// The manifests that the node has, over the manifest API of the admin socket (docs/manifest-api.md).

import type { ManifestName } from "../../shared/contracts/manifests.js";
import type { NodeletStatus, PodFacts, RestartReply } from "../../shared/contracts/nodelet.js";
import type { Pod } from "../../shared/kubernetes/api/pod.js";
import type { PodUid } from "../../shared/kubernetes/identifiers.js";
import { AnswerError, type Client } from "../client.js";
import { CliError, EXIT } from "../errors.js";
import { podsOf } from "../pods/find.js";
import { podPath } from "../pods/pod-paths.js";
import { manifestJson, parseManifestJson } from "./exact-json.js";
import type { ReadingRules } from "./read.js";

/** Set by the server, and no part of what was sent. */
const OF_SERVER = ["resourceVersion", "creationTimestamp", "deletionTimestamp"];

export interface NodeManifest extends ManifestName {
  /** Its ETag. */
  resourceVersion: string;
  metadata: Record<string, unknown>;
  spec: Record<string, unknown>;
  /** The kubelet cannot run it. */
  refused: boolean;
}

export interface NodeState {
  node: string;
  manifests: NodeManifest[];
  pods: Pod[];
  rules: ReadingRules;
  /** Where files of static pods are; "" for none. */
  staticPodPath: string;
  /** Pods may come from staticPodURL. */
  hasURL: boolean;
}

interface Configz {
  kubeletconfig: { staticPodPath?: string; staticPodURL?: string; featureGates?: Record<string, boolean> };
}

interface ManifestList {
  items: { metadata: Record<string, unknown>; spec: Record<string, unknown>; status?: { reason?: string } }[];
}

/** @throws CliError when the manifest API is off, unless the command works without it */
export async function nodeState(client: Client, api: "needed" | "optional" = "needed"): Promise<NodeState> {
  const [{ node }, { kubeletconfig }, pods] = await Promise.all([
    client.json<NodeletStatus>("/nodelet/status"),
    client.json<Configz>("/configz"),
    podsOf(client),
  ]);
  const { staticPodPath = "", staticPodURL = "", featureGates = {} } = kubeletconfig;
  const list = async (): Promise<ManifestList> => parseManifestJson(await client.text("/manifests/")) as ManifestList;
  const { items } = await (api === "needed" ? withApi(staticPodPath, list) : unlessUnknown(list));
  const rules = { nodeName: node, preventAPIReferences: featureGates["PreventStaticPodAPIReferences"] !== false };
  return { node, manifests: items.map(manifestOf), pods, rules, staticPodPath, hasURL: staticPodURL !== "" };
}

function manifestOf({ metadata, spec, status }: ManifestList["items"][number]): NodeManifest {
  const own = Object.fromEntries(Object.entries(metadata).filter(([key]) => !OF_SERVER.includes(key)));
  return {
    namespace: String(metadata["namespace"]),
    name: String(metadata["name"]),
    resourceVersion: String(metadata["resourceVersion"]),
    metadata: own,
    spec,
    refused: status?.reason === "Refused",
  };
}

/** Which of these pods are being terminated already. */
export async function terminatingPods(client: Client, pods: readonly Pod[]): Promise<Set<PodUid>> {
  const ending = new Set<PodUid>();
  for (const pod of pods) {
    const facts = await client.find<PodFacts>(`/nodelet/pods/${podPath(pod)}`);
    if (facts === undefined || facts.termination !== undefined) ending.add(pod.metadata.uid);
  }
  return ending;
}

async function unlessUnknown(list: () => Promise<ManifestList>): Promise<ManifestList> {
  try {
    return await list();
  } catch (error) {
    if (error instanceof AnswerError && error.status === 404) return { items: [] };
    throw error;
  }
}

/** A kubelet without the manifest API does not know the path. */
async function withApi<T>(staticPodPath: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof AnswerError) || error.status !== 404) throw error;
    const other =
      staticPodPath === "" ? "" : `; or put the manifests into ${staticPodPath}, which this kubelet follows`;
    throw new CliError(
      EXIT.wrong,
      "the kubelet takes no manifests: its manifest API is off",
      `start the kubelet with --manifest-api=socket, as the packages do on a stand-alone node. Where KUBELET_EXTRA_ARGS of /etc/default/kubelet turns it off, remove that and run \`systemctl restart kubelet\`; containers run on${other}`,
    );
  }
}

/** Path of one manifest. */
function pathOf({ namespace, name }: ManifestName): string {
  return `/manifests/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}

export interface Change extends ManifestName {
  metadata: object;
  spec: object;
  /** Version that is replaced; undefined: there must be none. */
  replaces: string | undefined;
}

/** Creates or replaces a manifest. Rejects when another client has changed it meanwhile. */
export async function putManifest(client: Client, change: Change, dryRun: boolean): Promise<void> {
  const { metadata, spec, replaces } = change;
  const condition = replaces === undefined ? { "if-none-match": "*" } : { "if-match": `"${replaces}"` };
  await ofOneWriter(async () => {
    await client.send("PUT", `${pathOf(change)}${dryRun ? "?dryRun=All" : ""}`, {
      headers: { ...condition, "content-type": "application/json" },
      body: manifestJson({ apiVersion: "v1", kind: "Pod", metadata, spec }),
    });
  });
}

export interface Deletion extends ManifestName {
  /** Seconds; undefined: as the pod's definition has it. */
  gracePeriodSeconds: number | undefined;
  dryRun: boolean;
}

export async function deleteManifest(client: Client, deletion: Deletion): Promise<void> {
  const { gracePeriodSeconds, dryRun } = deletion;
  const query = new URLSearchParams();
  if (gracePeriodSeconds !== undefined) query.set("gracePeriodSeconds", String(gracePeriodSeconds));
  if (dryRun) query.set("dryRun", "All");
  const text = query.toString();
  await client.send("DELETE", `${pathOf(deletion)}${text === "" ? "" : `?${text}`}`);
}

/** Terminates a static pod and starts it again under its UID. @throws CliError if the kubelet does not */
export async function restartPod(client: Client, pod: Pod): Promise<void> {
  const { result } = await client.post<RestartReply>(`/nodelet/pods/${podPath(pod)}/restart`);
  if (result === "api") throw new CliError(EXIT.wrong, "it is a pod of the API server");
  if (result === "deleted") throw new CliError(EXIT.wrong, "its manifest was deleted: it terminates");
}

async function ofOneWriter(write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof AnswerError) || error.status !== 412) throw error;
    throw new CliError(EXIT.wrong, "another client changed it at the same time: run the command again");
  }
}
