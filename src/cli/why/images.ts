// Rules about images: the registry's error, the time of the next pull, remedies. Pure.

import { parseImageName } from "../../shared/kubernetes/api/image-name.js";
import { duration, timeOf } from "../output/amounts.js";
import { fullDiskHelp, unitOf } from "../problems.js";
import { containersOf, eventsOf, type ContainerView, type Finding, type WhyInput } from "./input.js";
import { plainText } from "./plain-text.js";

const PULL_REASONS = new Set(["ErrImagePull", "ImagePullBackOff", "RegistryUnavailable", "SignatureValidationFailed"]);
/** A pull that takes longer is worth a line. */
const LONG_PULL_MS = 10_000;

export function* imageRules(input: WhyInput): Iterable<Finding> {
  for (const view of containersOf(input.pod)) {
    const { reason = "", message = "" } = view.status?.state.waiting ?? {};
    if (PULL_REASONS.has(reason)) yield pullFailed(input, view, message);
    else if (reason === "ErrImageNeverPull") yield neverPulled(view);
    else if (reason === "InvalidImageName" || reason === "ImageInspectError") yield invalidName(view, message);
    else yield* longPull(input, view);
  }
}

function pullFailed(input: WhyInput, { container, kind }: ContainerView, message: string): Finding {
  const { facts, events, now, node } = input;
  const { name, image = "" } = container;
  const failure = facts?.startFailures.find((one) => one.container === name);
  const said = lastWords(message, image);
  const first = eventsOf(events, name, "Failed").find((event) => event.message.includes("pull image"));
  const since = timeOf(first?.firstTimestamp);
  const tries = failure === undefined || failure.tries < 2 ? "" : ` after ${failure.tries} tries`;
  return {
    severity: "error",
    about: `${kind} ${name}`,
    what: `its image "${image}" cannot be pulled${tries}: ${outcome(said, image)}`,
    since: since !== undefined && since < now ? since : undefined,
    nextTryAt: failure?.nextTryAt,
    help: pullHelp(said, image, unitOf(node)),
  };
}

/** The part of the message behind the kubelet's and the runtime's own words. */
function lastWords(message: string, image: string): string {
  const words = plainText(message)
    .replace(/^Back-off pulling image "[^"]*": /, "")
    .replace(/^(ErrImagePull|RegistryUnavailable|SignatureValidationFailed): /, "")
    .replace(/^failed to pull (and unpack )?image "[^"]*": /, "")
    .replace(/^failed to resolve reference "[^"]*": /, "");
  return words.trim() === "" ? `nothing more about ${image}` : words.trim();
}

const UNRESOLVED = /no such host|server misbehaving|lookup .* on|Temporary failure in name resolution/i;
const UNREACHABLE =
  /connection refused|i\/o timeout|no route to host|network is unreachable|deadline exceeded|\bEOF\b|connection reset/i;
const INVALID = /invalid reference format|failed to parse image reference|could not parse reference/i;

/** Who said it: a registry that did not respond has replied nothing. */
function outcome(text: string, image: string): string {
  const registry = registryOf(image);
  const said = withoutNames(text, image);
  if (INVALID.test(said)) return `the name is not valid: ${text}`;
  if (UNRESOLVED.test(said)) return `the name of its registry ${registry} does not resolve: ${text}`;
  if (UNREACHABLE.test(said)) return `${registry} did not respond: ${text}`;
  // containerd's own words begin with a verb; a refusal of the registry has a status or its code.
  return /x509|tls:|no match for platform|unpack/i.test(said) ? text : `${registry} replied: ${text}`;
}

/** Words of the image's own name say nothing about the error: "reg.test:44290/denied:404". */
function withoutNames(text: string, image: string): string {
  const registry = registryOf(image);
  const repository = image
    .split("@", 1)
    .join("")
    .replace(/:[^:/]*$/, "");
  const path = repository.startsWith(`${registry}/`) ? repository.slice(registry.length + 1) : repository;
  let words = text;
  for (const name of [image, repository, path, registry].filter((one) => one !== "")) {
    const plain = name.replace(/[^\w]/g, "\\$&");
    words = words.replace(new RegExp(`(?<![\\w.-])${plain}(?![\\w-])`, "g"), "…");
  }
  return words;
}

/** The host that an image name is pulled from, as runtimes read it. */
function registryOf(image: string): string {
  return parseImageName(image)?.registry ?? "docker.io";
}

/** In "Team/app:1" the first part is a registry only because it has an upper-case letter. */
function upperCaseHelp(image: string): string[] {
  const registry = registryOf(image);
  if (/[.:]/.test(registry) || registry.toLowerCase() === registry) return [];
  return [`correct the image's name: runtimes read ${registry} as a registry, because repositories are in lower case`];
}

/** These words, or a status that is no part of a name, an address or a port. */
const withStatus = (status: string, words: string): RegExp =>
  new RegExp(String.raw`${words}|(?<![\w-]|\d\.)${status}(?![\w-]|\.\d)`, "i");

const HELP: readonly (readonly [pattern: RegExp, help: (image: string, unit: string) => string[]])[] = [
  [INVALID, () => ["correct the image's name in the pod: registry/repository:tag, in lower case"]],
  [
    /no match for platform|no matching manifest|exec format/i,
    () => ["the image has no variant for the processor architecture of this node: use another tag, or build one"],
  ],
  [
    UNRESOLVED,
    (image) => [
      ...upperCaseHelp(image),
      `the name ${registryOf(image)} does not resolve on this node: check the spelling of the image's registry`,
      "check the node's name servers in /etc/resolv.conf",
    ],
  ],
  [
    /x509|certificate signed by unknown|tls:/i,
    (image, unit) => [
      `the node does not trust the certificate of ${registryOf(image)}: add its CA to the runtime's registry configuration (/etc/${unit === "crio" ? "containers" : unit}/certs.d)`,
    ],
  ],
  [
    withStatus("429", "toomanyrequests|rate limit"),
    (image) => [
      `${registryOf(image)} limits the number of pulls: use credentials (imagePullSecrets) or a mirror, or wait for the next try`,
    ],
  ],
  [
    withStatus("404", "not found|manifest unknown|name unknown"),
    () => [
      "check the spelling of repository and tag; the registry has no such image",
      "private registries also reply this without credentials: check imagePullSecrets",
    ],
  ],
  [
    withStatus("40[13]", "unauthorized|authorization failed|denied|forbidden|insufficient_scope|no basic auth"),
    () => [
      "the registry refuses these credentials: check imagePullSecrets, and that the repository exists",
      "static pods use the node's own credentials, in <root-dir>/config.json",
    ],
  ],
  [
    UNREACHABLE,
    (image) => [
      ...upperCaseHelp(image),
      `this node does not reach ${registryOf(image)}: check network, firewall and proxy (HTTPS_PROXY of the runtime's unit)`,
    ],
  ],
];

function pullHelp(text: string, image: string, unit: string): string[] {
  const said = withoutNames(text, image);
  const full = fullDiskHelp(said);
  if (full.length > 0) return full;
  const found = HELP.find(([pattern]) => pattern.test(said));
  return (
    found?.[1](image, unit) ?? [`pull it by hand to see more: ${unit === "docker" ? "docker" : "crictl"} pull ${image}`]
  );
}

function neverPulled({ container, kind }: ContainerView): Finding {
  return {
    severity: "error",
    about: `${kind} ${container.name}`,
    what: `its image "${container.image ?? ""}" is not on this node, and imagePullPolicy Never forbids the pull`,
    help: [`load the image onto the node, or set imagePullPolicy: IfNotPresent`],
  };
}

function invalidName({ container, kind }: ContainerView, message: string): Finding {
  return {
    severity: "error",
    about: `${kind} ${container.name}`,
    what: `the image "${container.image ?? ""}" cannot be used: ${message}`,
    help: ["correct the image's name in the pod: registry/repository:tag, in lower case"],
  };
}

function* longPull({ events, now }: WhyInput, { container, kind, status }: ContainerView): Iterable<Finding> {
  if (status?.state.waiting === undefined) return;
  const began = timeOf(eventsOf(events, container.name, "Pulling").at(-1)?.lastTimestamp);
  const ended = timeOf(eventsOf(events, container.name, "Pulled").at(-1)?.lastTimestamp);
  if (began === undefined || (ended !== undefined && ended >= began) || now - began < LONG_PULL_MS) return;
  yield {
    severity: "info",
    about: `${kind} ${container.name}`,
    what: `its image "${container.image ?? ""}" has been pulled for ${duration(now - began)}`,
    since: began,
    help: ["large images take long; other pulls may be before it (serializeImagePulls, maxParallelImagePulls)"],
  };
}
