// The plugin of a DRA driver as the manager calls it. The gRPC behind it is in driver-client.ts, loaded with the first
// plugin.

import type { PreparedDevice } from "./claim-state.js";
import type { DeviceReport } from "./device-health.js";

export interface ClaimRef {
  namespace: string;
  uid: string;
  name: string;
}

/** By UID of the claim. `error` not empty: that claim failed. */
interface PreparedClaim {
  error: string;
  devices: readonly PreparedDevice[];
}

export interface DriverClient {
  /** @throws PluginCallError */
  prepare(claims: readonly ClaimRef[], signal: AbortSignal): Promise<ReadonlyMap<string, PreparedClaim>>;
  /** @throws PluginCallError. By UID of the claim: "" or the error. */
  unprepare(claims: readonly ClaimRef[], signal: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /** Resolves when the plugin ends the stream. @throws PluginCallError, also when the signal ended it */
  watchHealth(onReports: (reports: readonly DeviceReport[]) => void, signal: AbortSignal): Promise<void>;
  /** Keeps the plugin's connection open and reports when it is made and lost, until close(). */
  watchConnection(onChange: (connected: boolean) => void): void;
  close(): void;
}

/** gRPC services by which a plugin is called, the preferred one first. */
export const DRA_SERVICES = ["v1.DRAPlugin", "v1beta1.DRAPlugin"] as const;
type DraService = (typeof DRA_SERVICES)[number];

/**
 * gRPC services by which a plugin reports the health of its devices, with the same messages. v1 came with 1.37. Plugins
 * of before do not have to name the other one when they register.
 */
export const HEALTH_SERVICES = ["v1.DRAResourceHealth", "v1alpha1.DRAResourceHealth"] as const;

/** The services of one plugin. */
export interface DriverServices {
  claims: DraService;
  health: (typeof HEALTH_SERVICES)[number];
}

/** Called at most this long, connecting included. */
export const DRIVER_CALL_MS = 45_000;
