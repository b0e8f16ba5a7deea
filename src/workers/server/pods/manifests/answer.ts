// The manifest API over HTTP (docs/manifest-api.md). One object for all ports. Loaded with the first request.
// Invariant: main makes one list of all manifests at a time, and one answer with a single manifest, for any number of
// clients.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import { messageOf } from "../../../../shared/base/errors/thrown.js";
import { omitUndefined } from "../../../../shared/base/objects/omit-undefined.js";
import { KeyedSerializer } from "../../../../shared/base/turns/keyed-serializer.js";
import { sharedRead } from "../../../../shared/base/turns/shared-read.js";
import {
  MANIFEST_BODY_LIMIT,
  type Condition,
  type KeptManifest,
  type ManifestCall,
  type ManifestName,
  type ManifestReply,
} from "../../../../shared/contracts/manifests.js";
import { queryOf, type Target } from "../../../../shared/io/http/target.js";
import { replyText, writeChunks } from "../../http/reply.js";
import { Bodies, BodyError } from "../../http/whole-body.js";
import type { PodList } from "../pod-list.js";
import { replyJson, replyStatus, replySuccess } from "./status.js";
import { listTexts, plainTable, podText, table, type ShownManifest } from "./view.js";
import { ManifestWatches } from "./watch.js";

const RETRY_AFTER = { "Retry-After": "1" };
/** RFC 9111 gives a warning its code and agent; headers are ASCII. */
const SHOWN_WARNINGS = 20;
const WARNING_LENGTH = 300;
const GRACE = /^\d{1,9}$/;

export interface ManifestAnswerDeps {
  pods: PodList;
  call: (call: ManifestCall) => Promise<ManifestReply>;
  clock: Clock;
}

type Done = Extract<ManifestReply, { ok: true }>;

export class ManifestAnswers {
  private readonly bodies: Bodies;
  private readonly watches: ManifestWatches;
  private readonly listAll: () => Promise<ManifestReply>;
  private readonly single = new KeyedSerializer();

  constructor(private readonly deps: ManifestAnswerDeps) {
    const { pods, clock } = deps;
    this.bodies = new Bodies(clock, { bytes: MANIFEST_BODY_LIMIT, atOnce: 4, what: "manifests" });
    this.listAll = sharedRead(() => deps.call({ op: "list" }));
    const list = async (): Promise<KeptManifest[]> => {
      const reply = await this.listAll();
      if (!reply.ok) throw new Error(reply.refusal.message);
      return reply.manifests;
    };
    this.watches = new ManifestWatches({ pods, list, clock });
  }

  /** Ends the watches. */
  close(): void {
    this.watches.close();
  }

  /** `of`: of the path; absent: all manifests. */
  async answer(request: IncomingMessage, response: ServerResponse, target: Target, of?: ManifestName): Promise<void> {
    try {
      await this.dispatch(request, response, target, of);
    } catch (error) {
      if (response.headersSent || response.destroyed) {
        response.destroy();
        return;
      }
      if (error instanceof BodyError) {
        request.resume();
        response.shouldKeepAlive = false;
        replyStatus(response, error.refusal, error.refusal.code === 429 ? RETRY_AFTER : {});
      } else if (request.destroyed && !request.complete) response.destroy();
      else {
        const message = `the main thread did not respond: ${messageOf(error)}`;
        replyStatus(response, { code: 503, reason: "ServiceUnavailable", message }, RETRY_AFTER);
      }
    }
  }

  private async dispatch(
    request: IncomingMessage,
    response: ServerResponse,
    target: Target,
    of?: ManifestName,
  ): Promise<void> {
    const query = queryOf(target);
    if (request.method === "GET") {
      if (isTrue(query.get("watch"))) await this.watch(response, query, of);
      else await this.get(request, response, of);
      return;
    }
    const dryRun = dryRunOf(query);
    if (dryRun === undefined) {
      replyStatus(response, { code: 400, reason: "BadRequest", message: "dryRun must be All, or not be given" });
      return;
    }
    const condition = conditionOf(request);
    if (request.method === "DELETE" && of !== undefined) {
      request.resume();
      const grace = query.get("gracePeriodSeconds");
      if (grace !== null && !GRACE.test(grace)) {
        const message = "gracePeriodSeconds must be a whole number from 0 to 999999999";
        replyStatus(response, { code: 400, reason: "BadRequest", message });
        return;
      }
      const ofGrace = grace === null ? {} : { gracePeriodSeconds: Number(grace) };
      const done = await this.write(response, { op: "delete", of, condition, dryRun, ...ofGrace });
      if (done !== undefined) replySuccess(response, of);
      return;
    }
    await this.bodies.read(request, async (body) => {
      const done = await this.write(
        response,
        of === undefined ? { op: "create", body, dryRun } : { op: "replace", of, body, condition, dryRun },
      );
      if (done !== undefined) await this.replyWritten(response, done);
    });
  }

  /** Undefined: the call was refused, and the client has the response. */
  private async write(response: ServerResponse, call: ManifestCall): Promise<Done | undefined> {
    try {
      const reply = await this.deps.call(call);
      setWarnings(response, reply.ok ? reply.warnings : reply.refusal.warnings);
      if (reply.ok) return reply;
      replyStatus(response, reply.refusal);
      return undefined;
    } finally {
      await this.watches.changed();
    }
  }

  private async replyWritten(response: ServerResponse, { manifests, created, resourceVersion }: Done) {
    response.statusCode = created ? 201 : 200;
    await this.replyManifests(response, manifests, resourceVersion);
  }

  /** One as a Pod with its ETag, else a list. */
  private async replyManifests(
    response: ServerResponse,
    manifests: readonly KeptManifest[],
    resourceVersion: string,
    asList = manifests.length !== 1,
  ): Promise<void> {
    const shown = manifests.map((manifest) => this.shown(manifest));
    const [one] = shown;
    if (one !== undefined && !asList) {
      replyJson(response, response.statusCode, `${podText(one)}\n`, { ETag: `"${one.manifest.resourceVersion}"` });
      return;
    }
    response.writeHead(response.statusCode, { "Content-Type": "application/json" });
    await writeChunks(response, listTexts(shown, resourceVersion));
  }

  private async get(request: IncomingMessage, response: ServerResponse, of?: ManifestName): Promise<void> {
    const reply =
      of === undefined ? await this.listAll() : await this.single.run("get", () => this.deps.call({ op: "list", of }));
    if (!reply.ok) {
      replyStatus(response, reply.refusal);
      return;
    }
    const { manifests, resourceVersion } = reply;
    await this.deps.pods.current();
    const shown = manifests.map((manifest) => this.shown(manifest));
    const now = this.deps.clock.now();
    const accepted = formatOf(request.headers.accept ?? "*/*");
    switch (accepted) {
      case "table":
        replyJson(response, 200, `${JSON.stringify(table(shown, resourceVersion, now))}\n`);
        return;
      case "text":
        replyText(response, plainTable(shown, now));
        return;
      case "json":
        await this.replyManifests(response, manifests, resourceVersion, of === undefined);
        return;
      case undefined: {
        const formats = "application/json, application/json;as=Table;v=v1;g=meta.k8s.io, text/plain";
        replyStatus(response, { code: 406, reason: "NotAcceptable", message: `Accept must name one of ${formats}` });
      }
    }
  }

  private async watch(response: ServerResponse, query: URLSearchParams, of?: ManifestName): Promise<void> {
    const seconds = query.get("timeoutSeconds");
    if (seconds !== null && !/^[1-9][0-9]{0,5}$/.test(seconds)) {
      const message = "timeoutSeconds must be a whole number from 1 to 999999";
      replyStatus(response, { code: 400, reason: "BadRequest", message });
    } else if (this.watches.full) {
      const message = "too many clients watch the manifests of this node";
      replyStatus(response, { code: 429, reason: "TooManyRequests", message }, { "Retry-After": "60" });
    } else await this.watches.serve(response, of, seconds === null ? undefined : Number(seconds) * 1000);
  }

  private shown(manifest: KeptManifest): ShownManifest {
    return { manifest, pod: manifest.uid === undefined ? undefined : this.deps.pods.get(manifest.uid) };
  }
}

/** The first format of the list that is served; upstream's clients list a table first. */
function formatOf(accept: string): "json" | "table" | "text" | undefined {
  for (const range of accept.toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (type === "application/json") {
      if (!parameters.some((one) => one.startsWith("as="))) return "json";
      if (parameters.includes("as=table") && !parameters.some((one) => /^v=(?!v1$)/.test(one))) return "table";
    }
    if (type === "*/*" || type === "application/*") return "json";
    if (type === "text/plain" || type === "text/*") return "text";
  }
  return undefined;
}

function conditionOf({ headers }: IncomingMessage): Condition {
  const [ifMatch, ifNoneMatch] = [headers["if-match"], headers["if-none-match"]];
  return omitUndefined({ ifMatch, ifNoneMatch });
}

/** Undefined: a value that is not known. */
function dryRunOf(query: URLSearchParams): boolean | undefined {
  const values = query.getAll("dryRun");
  return values.every((value) => value === "All") ? values.length > 0 : undefined;
}

function isTrue(value: string | null): boolean {
  return value !== null && /^(1|t|true)$/i.test(value);
}

function setWarnings(response: ServerResponse, warnings: readonly string[] = []): void {
  const shown = warnings.slice(0, SHOWN_WARNINGS).map((text) => `299 nodelet "${headerText(text)}"`);
  if (shown.length > 0) response.setHeader("Warning", shown);
}

function headerText(text: string): string {
  const ascii = text.replace(/[^\x20-\x7e]/g, "?").slice(0, WARNING_LENGTH);
  return ascii.replace(/["\\]/g, (sign) => `\\${sign}`);
}
