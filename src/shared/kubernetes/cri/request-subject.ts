// The subject of a request, for an error message: the pod, container, sandbox or image that it names.

/** "" when the request names nothing in particular. */
export function subjectOf(request: object): string {
  const container = text(request, "containerId");
  if (container !== "") return `container ${container}`;
  const config = member(request, "config");
  const sandbox = text(request, "podSandboxId");
  if (config !== undefined) {
    const name = text(member(config, "metadata"), "name");
    const own = podName(config);
    if (own !== "") return `pod ${own}`;
    const pod = podName(member(request, "sandboxConfig"));
    return `container ${name} of ${pod === "" ? `sandbox ${sandbox}` : `pod ${pod}`}`;
  }
  if (sandbox !== "") return `sandbox ${sandbox}`;
  const image = text(member(request, "image"), "image");
  return image === "" ? "" : `image ${image}`;
}

/** name_namespace(uid), as everywhere in our messages; "" for a container's configuration. */
function podName(config: object | undefined): string {
  const metadata = config === undefined ? undefined : member(config, "metadata");
  const uid = text(metadata, "uid");
  return uid === "" ? "" : `${text(metadata, "name")}_${text(metadata, "namespace")}(${uid})`;
}

function member(of: object, key: string): object | undefined {
  const value: unknown = Reflect.get(of, key);
  return typeof value === "object" && value !== null ? value : undefined;
}

function text(of: object | undefined, key: string): string {
  const value: unknown = of === undefined ? undefined : Reflect.get(of, key);
  return typeof value === "string" ? value : "";
}
