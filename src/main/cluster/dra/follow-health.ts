// Follows the health of DRA devices on this node (KEP-4680, gate ResourceHealthStatus). It reads the streams of the
// plugins, writes the checkpoint <root-dir>/dra_health_state and finds the pods whose status changes.
// Invariant: nothing is read or written before a plugin registers; a checkpoint that cannot be written costs only the
// health after a restart.

import { join } from "node:path";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { atomicWrite } from "../../../shared/io/fs/atomic-write.js";
import { LatestWrite } from "../../../shared/io/fs/latest-write.js";
import { readState, removeLeftovers } from "../../../shared/io/fs/state-file.js";
import type { PodUid } from "../../../shared/kubernetes/identifiers.js";
import { errorText } from "../../../shared/telemetry/log/error-text.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import type { ClaimState } from "../../resources/dra/claim-state.js";
import { DeviceHealth, type DeviceRef } from "../../resources/dra/device-health.js";
import type { DriverClient } from "../../resources/dra/driver-port.js";
import { decodeHealth, encodeHealth } from "../../resources/dra/health-file.js";
import { HealthStreams } from "../../resources/dra/health-streams.js";

const STATE_FILE = "dra_health_state";

export interface HealthDeps {
  rootDir: string;
  claims: () => readonly ClaimState[];
  /** The health of devices of these pods changed. */
  onPods: (podUids: ReadonlySet<PodUid>) => void;
  clock: Clock;
  log: Logger;
}

export interface FollowedHealth {
  of: DeviceHealth["of"];
  watch(driver: string, client: DriverClient, signal: AbortSignal): void;
  /** After the signals of all streams have aborted. */
  stop(): Promise<void>;
}

export function followHealth({ rootDir, claims, onPods, clock, log }: HealthDeps): FollowedHealth {
  const path = join(rootDir, STATE_FILE);
  let stopping = false;
  const health = new DeviceHealth({
    clock,
    onChange(driver, devices) {
      // The stop of the kubelet ends the streams, which is no change of the devices' health.
      if (stopping) return;
      void writes.request();
      const pods = podsOf(claims(), driver, devices);
      if (pods.size > 0) onPods(pods);
    },
  });
  const writes = new LatestWrite({
    write: () => atomicWrite(path, encodeHealth(health.all()), { durable: false }),
    failed: (error) =>
      log.warn(
        { err: error, path },
        `cannot write ${path}: ${errorText(error)}; a restart loses the health of devices`,
      ),
  });
  const streams = new HealthStreams({ health, clock, log });
  let loaded: Promise<void> | undefined;
  const load = async (): Promise<void> => {
    try {
      await removeLeftovers(path);
      const earlier = await readState(path, (file) => decodeHealth(file, clock.now()), { clock, log });
      if (earlier !== undefined && !stopping) health.restore(earlier);
    } catch (error) {
      log.warn({ err: error, path }, `cannot read ${path}: ${errorText(error)}; devices start with the health Unknown`);
    }
  };
  return {
    of: (driver, device) => health.of(driver, device),
    watch(driver, client, signal) {
      loaded ??= load();
      streams.keepOpen(driver, client, signal);
    },
    async stop() {
      stopping = true;
      health.stop();
      await streams.settled();
      await loaded;
      health.stop();
      await writes.settled();
    },
  };
}

function podsOf(claims: readonly ClaimState[], driver: string, devices: readonly DeviceRef[]): Set<PodUid> {
  const changed = new Set(devices.map(({ pool, device }) => `${pool}/${device}`));
  const affected = claims.filter(({ drivers }) =>
    (drivers.get(driver) ?? []).some(({ pool, device }) => changed.has(`${pool}/${device}`)),
  );
  return new Set(affected.flatMap(({ pods }) => [...pods]));
}
