// What several managers give to one container, as one grant. Each field has one owner among them; where two name the same
// environment variable or annotation, the manager asked first wins.
import type { ContainerGrant } from "./port.js";

export function joinGrants(grants: readonly ContainerGrant[]): ContainerGrant {
  const [only] = grants;
  if (only === undefined) return {};
  if (grants.length === 1) return only;
  const first = <T>(read: (grant: ContainerGrant) => T | undefined): T | undefined =>
    grants.map(read).find((value) => value !== undefined);
  const all = <T>(read: (grant: ContainerGrant) => readonly T[] | undefined): T[] =>
    grants.flatMap((grant) => read(grant) ?? []);
  const cpus = first(({ cpus }) => cpus);
  const memoryNodes = first(({ memoryNodes }) => memoryNodes);
  const env = new Map<string, string>();
  for (const { name, value } of all(({ env }) => env)) if (!env.has(name)) env.set(name, value);
  const [mounts, devices] = [all(({ mounts }) => mounts), all(({ devices }) => devices)];
  const cdiDevices = [...new Set(all(({ cdiDevices }) => cdiDevices))];
  const annotations = Object.assign({}, ...grants.map(({ annotations }) => annotations ?? {}).toReversed()) as Record<
    string,
    string
  >;
  return {
    ...(cpus !== undefined && { cpus }),
    ...(memoryNodes !== undefined && { memoryNodes }),
    ...(grants.some(({ noCpuQuota }) => noCpuQuota === true) && { noCpuQuota: true }),
    ...(env.size > 0 && { env: [...env].map(([name, value]) => ({ name, value })) }),
    ...(mounts.length > 0 && { mounts }),
    ...(devices.length > 0 && { devices }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(cdiDevices.length > 0 && { cdiDevices }),
  };
}
