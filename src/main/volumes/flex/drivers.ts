// The flexVolume drivers of this node: programs below volumePluginDir, found when a volume needs one.
// Invariant: a driver is used only as long as its program is the file that succeeded with "init". A replaced program
// gets "init" again.

import { stat } from "node:fs/promises";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { errorCode } from "../../../shared/base/errors/error-code.js";
import { quote } from "../../../shared/base/text/quote.js";
import type { Logger } from "../../../shared/telemetry/log/logger.js";
import { DriverWatch } from "./driver-watch.js";
import { FlexDriver } from "./driver.js";
import { checkedDriver, executableOf } from "./names.js";

/** The node has no such driver, yet. */
export class FlexDriverMissingError extends Error {
  override readonly name = "FlexDriverMissingError";
  constructor(driver: string, executable: string) {
    super(
      `no volume plugin matched: flexVolume driver ${quote(driver)} is not installed on this node; ` +
        `put its program at ${executable} (volumePluginDir)`,
    );
  }
}

export interface FlexDriversOptions {
  /** volumePluginDir. */
  pluginDir: string;
  clock: Clock;
  log: Logger;
}

interface Known {
  /** Device, inode, size and modification time of the driver's file: a program that is replaced is another driver. */
  identity: string;
  driver: Promise<FlexDriver>;
}

export class FlexDrivers {
  private readonly known = new Map<string, Known>();
  /** By driver that is missing: to be called once when it has come. */
  private readonly waiting = new Map<string, Set<() => void>>();
  private readonly watch: DriverWatch;
  private readonly directory: string;

  constructor(private readonly options: FlexDriversOptions) {
    const { pluginDir, clock, log } = options;
    this.directory = pluginDir.length > 1 && pluginDir.endsWith("/") ? pluginDir.slice(0, -1) : pluginDir;
    this.watch = new DriverWatch({ directory: this.directory, clock, log, onChange: () => this.changed() });
  }

  /**
   * `onCome` is called once the driver that is missing now has come.
   * @throws FlexSpecError, FlexDriverMissingError, VolumeError
   */
  async find(name: string, onCome?: () => void): Promise<FlexDriver> {
    const executable = executableOf(this.directory, checkedDriver(name));
    const identity = await identityOf(executable);
    if (identity === undefined) {
      this.known.delete(name);
      if (onCome !== undefined) {
        this.waiting.set(name, (this.waiting.get(name) ?? new Set()).add(onCome));
        this.watch.start();
      }
      throw new FlexDriverMissingError(name, executable);
    }
    const known = this.known.get(name);
    if (known?.identity === identity) return known.driver;
    const { clock, log } = this.options;
    const driver = FlexDriver.init({ name, executable, clock });
    const entry = { identity, driver };
    this.known.set(name, entry);
    try {
      const { capabilities } = await driver;
      log.info({ driver: name, ...capabilities }, `found flexVolume driver ${name}`);
    } catch (error) {
      if (this.known.get(name) === entry) this.known.delete(name);
      throw error;
    }
    return driver;
  }

  stop(): Promise<void> {
    this.waiting.clear();
    return this.watch.stop();
  }

  private async changed(): Promise<void> {
    const { log } = this.options;
    for (const [name, listeners] of this.waiting) {
      if ((await identityOf(executableOf(this.directory, name))) === undefined) continue;
      this.waiting.delete(name);
      for (const listener of listeners) listener();
    }
    for (const name of this.known.keys()) {
      if ((await identityOf(executableOf(this.directory, name))) !== undefined) continue;
      this.known.delete(name);
      log.info({ driver: name }, `flexVolume driver ${name} was removed`);
    }
  }
}

/** undefined: there is no such program. */
async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeMs, mode } = await stat(path);
    return (mode & 0o111) === 0 ? undefined : `${dev}:${ino}:${size}:${mtimeMs}`;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}
