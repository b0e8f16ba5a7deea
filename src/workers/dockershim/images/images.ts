// Images of the Engine: questions, pulls, removal.

import type Docker from "dockerode";
import { Scope } from "../../../shared/base/abort/scope.js";
import type { Clock } from "../../../shared/base/clock/clock.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import type { DockershimInit } from "../../../shared/contracts/dockershim.js";
import type { AuthConfig } from "../../../shared/kubernetes/cri/gen/runtime.v1.js";
import { answered } from "../engine/answers.js";
import { request, type Engine } from "../engine/engine.js";
import { engineMessage, engineStatus, Fault, isNotFound } from "../fault.js";
import { pulled } from "./pull-progress.js";
import { splitReference } from "./reference.js";

export interface ImagesDeps {
  engine: Engine;
  clock: Pick<Clock, "after">;
  init: Pick<DockershimInit, "imagePullProgressDeadlineMs" | "podInfraContainerImage">;
}

export class Images {
  constructor(private readonly deps: ImagesDeps) {}

  /** By name, digest or id; undefined: there is no such image. */
  async inspect(reference: string, signal: AbortSignal): Promise<Docker.ImageInspectInfo | undefined> {
    try {
      const found = await this.deps.engine.call(signal, (docker, abort) => {
        const image = docker.getImage(reference);
        const ask = image.inspect.bind(image) as (options: object) => Promise<Docker.ImageInspectInfo>;
        return ask(request(abort));
      });
      return answered("image", found);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async list(signal: AbortSignal): Promise<Docker.ImageInfo[]> {
    const found = await this.deps.engine.call(signal, (docker, abort) => docker.listImages(request(abort)));
    return answered("images", found);
  }

  /**
   * Returns the image's id. Rejects as the Engine does, or when there is no progress for imagePullProgressDeadlineMs.
   */
  async pull(reference: string, auth: AuthConfig | undefined, signal: AbortSignal): Promise<string> {
    const { engine, clock, init } = this.deps;
    const { name, tag } = splitReference(reference);
    using scope = new Scope(signal);
    const query = { fromImage: name, tag };
    const pulling = engine.call(
      scope.signal,
      async (docker, abort) => {
        await pulled({
          reference,
          clock,
          deadlineMs: init.imagePullProgressDeadlineMs,
          begin: async () =>
            (await docker.createImage(dockerAuth(auth), request(abort, query))) as AsyncIterable<Buffer> &
              NodeJS.ReadableStream,
          cancel: (reason) => scope.abort(reason),
        });
      },
      Infinity,
    );
    await pulling.catch((cause: unknown) => {
      const status = engineStatus(cause);
      if (status === undefined) throw cause;
      const message = `failed to pull image ${JSON.stringify(reference)}: ${engineMessage(cause)}`;
      throw new Fault(status === 404 ? "NOT_FOUND" : "UNKNOWN", message, { cause });
    });
    const found = await this.inspect(reference, signal);
    if (found === undefined) throw new Fault("UNKNOWN", `the Docker Engine pulled ${reference} and has no such image`);
    return found.Id;
  }

  /** The image with all its names, whichever of them is given. Nothing if there is no such image. */
  async remove(reference: string, signal: AbortSignal): Promise<void> {
    const found = await this.inspect(reference, signal);
    if (found === undefined) return;
    const { RepoTags, RepoDigests } = namesOf(found);
    const names = [...(RepoTags ?? []), ...(RepoDigests ?? []).filter((digest) => !digest.startsWith("<none>"))];
    for (const name of names) await this.removeOne(name, signal);
    // Removing the last name also removes the image.
    if (names.length === 0) await this.removeOne(found.Id, signal);
  }

  /** The image of sandboxes is there, or is pulled. */
  async ensureSandboxImage(signal: AbortSignal): Promise<string> {
    const { podInfraContainerImage: image } = this.deps.init;
    if ((await this.inspect(image, signal)) === undefined) await this.pull(image, undefined, signal);
    return image;
  }

  private async removeOne(reference: string, signal: AbortSignal): Promise<void> {
    try {
      await this.deps.engine.call(signal, (docker, abort) => docker.getImage(reference).remove(request(abort)));
    } catch (error) {
      if (engineStatus(error) === 404) return;
      // Of two removals at once, the Engine answers one with an error of its own.
      if ((await this.inspect(reference, signal)) !== undefined) throw error;
    }
  }
}

/** The Engine sends null for none. */
function namesOf(image: { RepoTags: string[] | null; RepoDigests: string[] | null }): typeof image {
  return image;
}

/** Docker's names of the members; undefined: anonymous. */
function dockerAuth(auth: AuthConfig | undefined): Docker.AuthConfigObject | undefined {
  if (auth === undefined) return undefined;
  const decoded = auth.auth === "" ? undefined : Buffer.from(auth.auth, "base64").toString("utf8").replaceAll("\0", "");
  const colon = decoded?.indexOf(":") ?? -1;
  return omitUndefined({
    username: auth.username === "" && decoded !== undefined && colon >= 0 ? decoded.slice(0, colon) : auth.username,
    password: auth.password === "" && decoded !== undefined && colon >= 0 ? decoded.slice(colon + 1) : auth.password,
    serveraddress: auth.serverAddress,
    identitytoken: auth.identityToken !== "" ? auth.identityToken : undefined,
    registrytoken: auth.registryToken !== "" ? auth.registryToken : undefined,
  });
}
