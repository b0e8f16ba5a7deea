// Joins the Allocate responses of device plugins into the configuration with which a container is created. Pure.
// If plugins set the same variable, path or annotation, the first by resource name wins.

import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { MountPropagation } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { ContainerGrant } from "../assignment/resource-manager.js";
import type { ContainerAllocateResponse } from "./plugin-port.js";

/** By resource name. */
export function containerGrant(responses: ReadonlyMap<string, ContainerAllocateResponse>): ContainerGrant {
  const all = [...responses].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, response]) => response);
  if (all.length === 0) return {};
  const env = firstByKey(
    all.flatMap(({ envs }) => Object.entries(envs).map(([name, value]) => ({ name, value }))),
    ({ name }) => name,
  );
  const mounts = firstByKey(
    all.flatMap((response) => response.mounts),
    ({ containerPath }) => containerPath,
  );
  const devices = firstByKey(
    all.flatMap((response) => response.devices),
    ({ containerPath }) => containerPath,
  );
  const annotations = Object.assign({}, ...all.map((response) => response.annotations).reverse()) as Record<
    string,
    string
  >;
  const cdiDevices = [...new Set(all.flatMap((response) => response.cdiDevices.map(({ name }) => name)))];
  return omitUndefined({
    env: env.length > 0 ? env : undefined,
    mounts: mounts.length > 0 ? mounts.map((mount) => ({ ...PLAIN_MOUNT, ...namedAsCri(mount) })) : undefined,
    devices: devices.length > 0 ? devices.map((device) => ({ ...device })) : undefined,
    annotations: Object.keys(annotations).length > 0 ? annotations : undefined,
    cdiDevices: cdiDevices.length > 0 ? cdiDevices : undefined,
  });
}

const PLAIN_MOUNT = {
  selinuxRelabel: false,
  propagation: MountPropagation.PROPAGATION_PRIVATE,
  uidMappings: [],
  gidMappings: [],
  recursiveReadOnly: false,
  image: undefined,
  imageSubPath: "",
  mountOptions: [],
};

function namedAsCri({ containerPath, hostPath, readOnly }: ContainerAllocateResponse["mounts"][number]) {
  return { containerPath, hostPath, readonly: readOnly };
}

function firstByKey<T>(items: readonly T[], key: (item: T) => string): T[] {
  const seen = new Map<string, T>();
  for (const item of items) if (!seen.has(key(item))) seen.set(key(item), item);
  return [...seen.values()];
}
