// The node's own registry credentials: the first docker configuration found where upstream looks. Looked at when an
// image is pulled, read again when it changed: an operator who logs in needs no restart.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import { readRegularText } from "../../../../shared/io/fs/regular-file.js";
import type { AuthConfig } from "../../../../shared/kubernetes/cri/gen/runtime.v1.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";
import { DockerConfigError, readDockerConfig, type DockerConfigForm } from "./docker-config.js";
import { lookUp } from "./look-up.js";

export interface CredentialPlaces {
  rootDir: string;
  /** The process's working directory. */
  workingDir: string;
  /** $HOME; "" when there is none. */
  home: string;
}

interface Place {
  path: string;
  form: DockerConfigForm;
}

interface ReadPlace {
  version: string;
  /** undefined: not usable. */
  auths: ReadonlyMap<string, AuthConfig> | undefined;
}

/** Bytes of one file, parsed on the main thread: entries for tens of thousands of registries. */
export const CREDENTIALS_FILE_LIMIT = 4 * 1024 * 1024;

export class NodeCredentialFiles {
  private readonly places: Place[];
  private readonly seen = new Map<string, ReadPlace>();

  constructor(
    where: CredentialPlaces,
    private readonly log: Logger,
  ) {
    this.places = placesOf(where);
  }

  async forImage(image: string): Promise<AuthConfig[]> {
    for (const place of this.places) {
      const auths = await this.read(place);
      if (auths !== undefined) return lookUp(auths, image);
    }
    return [];
  }

  private async read(place: Place): Promise<ReadPlace["auths"]> {
    const { path } = place;
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile() !== true) return undefined;
    const version = `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}`;
    const known = this.seen.get(path);
    if (known?.version === version) return known.auths;
    const auths = await this.parse(place, found.size);
    this.seen.set(path, { version, auths });
    return auths;
  }

  private async parse({ path, form }: Place, size: number): Promise<ReadPlace["auths"]> {
    const refuse = (why: string): void => {
      this.log.warn(
        { path },
        `ignoring the registry credentials in ${path}: ${why}; fix the file, the kubelet reads it again`,
      );
    };
    if (size > CREDENTIALS_FILE_LIMIT) {
      refuse(`larger than ${CREDENTIALS_FILE_LIMIT / 1024} KiB`);
      return undefined;
    }
    try {
      const { auths, problems } = readDockerConfig(await readRegularText(path, CREDENTIALS_FILE_LIMIT), form);
      for (const problem of problems) refuse(problem);
      return auths;
    } catch (error) {
      refuse(error instanceof DockerConfigError ? error.message : `it can't be read: ${String(error)}`);
      return undefined;
    }
  }
}

/** Upstream's order: config.json in all its places before .dockercfg in any. */
function placesOf({ rootDir, workingDir, home }: CredentialPlaces): Place[] {
  const withHome = (path: string): string[] => (home === "" ? [] : [path]);
  const modern = [rootDir, workingDir, ...withHome(join(home, ".docker")), "/.docker"];
  const older = [rootDir, workingDir, ...withHome(home), "/"];
  return [
    ...modern.map((folder): Place => ({ path: join(folder, "config.json"), form: "config.json" })),
    ...older.map((folder): Place => ({ path: join(folder, ".dockercfg"), form: "dockercfg" })),
  ];
}
