// A device plugin as the manager uses it: its devices, its calls, its errors. Free of gRPC.

import { messageOf } from "../../../shared/base/errors/thrown.js";
import { PluginCallError, statusName } from "../../../shared/kubernetes/plugins/call-error.js";
import type { ContainerAllocateResponse } from "../../../shared/kubernetes/plugins/gen/deviceplugin.v1beta1.js";

export type { ContainerAllocateResponse };

export interface PluginDevice {
  healthy: boolean;
  /** NUMA nodes that it is near to; empty: it does not care. */
  nodes: readonly number[];
}

/** By device ID, in the plugin's order. */
export type Devices = ReadonlyMap<string, PluginDevice>;

export interface PluginOptions {
  preStartRequired: boolean;
  getPreferredAllocationAvailable: boolean;
}

/** The request for a preferred allocation. */
export interface PreferenceRequest {
  available: readonly string[];
  mustInclude: readonly string[];
  size: number;
}

/** Receives all devices and the bytes of their list. The next list comes when the promise has settled. */
export type OnDevices = (devices: Devices, bytes: number) => Promise<void> | undefined;

/** All calls reject with PluginCallError. */
export interface DevicePluginClient {
  options(signal: AbortSignal): Promise<PluginOptions>;
  /**
   * Reports all devices, again at each change. An error of `onDevices` ends the stream. Resolves when the plugin ends
   * it.
   */
  watch(onDevices: OnDevices, signal: AbortSignal): Promise<void>;
  preferred(request: PreferenceRequest, signal: AbortSignal): Promise<readonly string[]>;
  /** undefined: the plugin's response is empty. */
  allocate(ids: readonly string[], signal: AbortSignal): Promise<ContainerAllocateResponse | undefined>;
  preStart(ids: readonly string[], signal: AbortSignal): Promise<void>;
  close(): void;
}

/** Makes a client of the plugin's socket. */
export type DialDevicePlugin = (socket: string) => Promise<DevicePluginClient>;

/** A device plugin can't be used. The message is for the plugin and for the pod. */
export class DevicePluginError extends Error {
  override readonly name = "DevicePluginError";
}

/** A failed call as upstream prints it. */
export function callText(error: unknown): string {
  if (error instanceof PluginCallError) return `rpc error: code = ${statusName(error.code)} desc = ${error.details}`;
  return messageOf(error);
}
