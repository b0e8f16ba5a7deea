// The parts of the kubelet, and those of its side towards the cluster, in the order in which they start.
// Invariant: components start one after another and stop in reverse; an error of one stop is logged and the others
// still stop.

import { invariant } from "../../shared/base/errors/invariant.js";
import { messageOf } from "../../shared/base/errors/thrown.js";
import type { Logger } from "../../shared/telemetry/log/logger.js";

export interface Component {
  /** For logs. */
  readonly name: string;
  start?(): unknown;
  stop?(): unknown;
}

/** A component whose start returns an object with its stop. */
export function running(name: string, start: () => { stop(): unknown }): Component {
  let stop = (): unknown => undefined;
  return {
    name,
    start: () => {
      const started = start();
      stop = () => started.stop();
    },
    stop: () => stop(),
  };
}

export class Components {
  private readonly started: Component[] = [];

  constructor(
    /** Undefined: not on this node. */
    private readonly components: readonly (Component | undefined)[],
    private readonly log: Pick<Logger, "debug" | "error">,
    /** Called with the error of a component that cannot start, while the components before it still run. */
    private readonly onFailed: (error: unknown) => void = () => undefined,
  ) {}

  /** If a component cannot start, the components before it are stopped. @throws the error of its start */
  async start(): Promise<void> {
    for (const component of this.components) {
      if (component === undefined) continue;
      this.log.debug(`starting ${component.name}`);
      invariant(!this.started.includes(component), "a component starts once until it is stopped");
      this.started.push(component);
      try {
        await component.start?.();
      } catch (error) {
        this.onFailed(error);
        await this.stop();
        throw error;
      }
    }
  }

  /**
   * Starts one more component, which its start makes. When it cannot start, those before it are stopped again.
   * @throws what its start throws
   */
  async add<T extends { stop(): unknown } | (() => unknown)>(name: string, start: () => T | Promise<T>): Promise<T> {
    try {
      this.log.debug(`starting ${name}`);
      const made = await start();
      this.started.push({ name, stop: () => (typeof made === "function" ? made() : made.stop()) });
      return made;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    for (const component of this.started.splice(0).reverse()) {
      this.log.debug(`stopping ${component.name}`);
      try {
        await component.stop?.();
      } catch (error) {
        this.log.error({ err: error }, `cannot stop ${component.name}: ${messageOf(error)}`);
      }
    }
  }
}
