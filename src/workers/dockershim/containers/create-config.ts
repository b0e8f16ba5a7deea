// The request that creates a container: CRI's configuration in docker's words. Pure but for seccomp profiles.

import { join } from "node:path";
import type Docker from "dockerode";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import {
  Signal,
  type ContainerConfig,
  type LinuxContainerSecurityContext,
  type PodSandboxConfig,
} from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { Fault } from "../fault.js";
import { dockerLabels, LOG_PATH_LABEL, SANDBOX_ID_LABEL, TYPE_LABEL } from "../names.js";
import { criCgroupParent, type CgroupDriverName } from "./cgroup-parent.js";
import { dockerMounts } from "./mounts.js";
import { containerModes } from "./namespaces.js";
import { dockerResources } from "./resources.js";
import { currentProfiles, securityOptions } from "./security-options.js";

/** docker keeps a container's output only until the kubelet's log file has it: the newest 48 MiB. */
export const LOG_CONFIG = { Type: "json-file", Config: { "max-size": "16m", "max-file": "3" } };
/** docker's and containerd's default of /dev/shm. */
export const SHM_BYTES = 64 * 1024 * 1024;

export interface CreateInput {
  sandboxId: string;
  config: ContainerConfig;
  sandboxConfig: PodSandboxConfig;
  cgroupDriver: CgroupDriverName;
  lowestOomScoreAdj: number;
}

/** Rejects with Fault for a setting that the Engine does not support. */
export async function createOptions({
  sandboxId,
  config,
  sandboxConfig,
  cgroupDriver,
  lowestOomScoreAdj,
}: CreateInput): Promise<Docker.ContainerCreateOptions> {
  const { linux, stdin, stdinOnce, tty } = config;
  const security = linux?.securityContext;
  const { Mounts, Binds } = dockerMounts(config.mounts);
  const logPath = config.logPath === "" ? "" : join(sandboxConfig.logDirectory, config.logPath);
  return omitUndefined({
    Image: config.image?.image ?? "",
    // An empty list would take the place of the image's entry point.
    Entrypoint: config.command.length > 0 ? config.command : undefined,
    Cmd: config.args,
    WorkingDir: config.workingDir,
    Env: config.envs.map(({ key, value }) => `${key}=${Buffer.from(value).toString("utf8")}`),
    Labels: dockerLabels(config.labels, config.annotations, {
      [TYPE_LABEL]: "container",
      [SANDBOX_ID_LABEL]: sandboxId,
      [LOG_PATH_LABEL]: logPath,
    }),
    User: userOf(security),
    OpenStdin: stdin,
    StdinOnce: stdinOnce,
    Tty: tty,
    AttachStdin: false,
    // The kubelet probes containers; an image's own check would run beside it.
    Healthcheck: { Test: ["NONE"] },
    StopSignal: config.stopSignal !== Signal.RUNTIME_DEFAULT ? signalName(config.stopSignal) : undefined,
    HostConfig: omitUndefined({
      ...containerModes(security?.namespaceOptions, sandboxId),
      ...dockerResources(linux?.resources),
      Binds: Binds.length > 0 ? Binds : undefined,
      Mounts,
      Devices: config.devices.map(({ hostPath, containerPath, permissions }) => ({
        PathOnHost: hostPath,
        PathInContainer: containerPath,
        CgroupPermissions: permissions,
      })),
      CgroupParent: criCgroupParent(sandboxConfig.linux?.cgroupParent ?? "", cgroupDriver),
      OomScoreAdj: Math.max(Number(linux?.resources?.oomScoreAdj ?? 0n), lowestOomScoreAdj),
      LogConfig: LOG_CONFIG,
      ...(await hostSecurity(security)),
    }),
  });
}

async function hostSecurity(security: LinuxContainerSecurityContext | undefined): Promise<Docker.HostConfig> {
  if (security === undefined) return {};
  const { privileged, capabilities, readonlyRootfs, supplementalGroups, maskedPaths, readonlyPaths } = security;
  return {
    Privileged: privileged,
    ReadonlyRootfs: readonlyRootfs,
    CapAdd: capabilities?.addCapabilities ?? [],
    CapDrop: capabilities?.dropCapabilities ?? [],
    GroupAdd: supplementalGroups.map(String),
    SecurityOpt: await securityOptions({ ...security, ...currentProfiles(security) }),
    // An empty list unmasks all of /proc; docker reads no list as its default.
    MaskedPaths: maskedPaths,
    ReadonlyPaths: readonlyPaths,
  };
}

/** "uid:gid", "name" or "", which is the image's user. @throws Fault: docker has no group without a user */
export function userOf(
  security: Pick<LinuxContainerSecurityContext, "runAsUser" | "runAsUsername" | "runAsGroup"> | undefined,
): string {
  if (security === undefined) return "";
  const { runAsUser, runAsUsername, runAsGroup } = security;
  const user = runAsUser === undefined ? runAsUsername : String(runAsUser.value);
  if (runAsGroup === undefined) return user;
  if (user === "")
    throw new Fault("INVALID_ARGUMENT", "runAsGroup needs runAsUser: the Docker Engine has no group without a user");
  return `${user}:${runAsGroup.value}`;
}

/** "SIGRTMINPLUS3" of CRI is docker's "SIGRTMIN+3". */
function signalName(signal: Signal): string {
  return Signal[signal].replace("PLUS", "+").replace(/MAXMINUS/, "MAX-");
}
