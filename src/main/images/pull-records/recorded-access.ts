// Who may use an image that is there, by the records of how it came: the pods whose credentials pulled it, or everybody.
// What must hold: an intent is on disk before the runtime is asked to pull, and goes only when its record is on disk or
// the pull failed. An agent that dies in between finds the intent, and knows the image for one that needs proof.
import { join } from "node:path";
import type { Clock } from "../../../shared/clock/clock.js";
import type { CriClient } from "../../../shared/cri/client.js";
import type { Logger } from "../../../shared/log/logger.js";
import type { AccessCheck, PullRecordMetrics } from "../../../shared/metrics/pull-records.js";
import type { CredentialSource, OwnKind } from "../credentials.js";
import type { ImageAccess, OwnSources } from "../image-access.js";
import { withoutTagAndDigest } from "../image-name.js";
import { KeyedTurns } from "./keyed-turns.js";
import { RecentRecords } from "./recent-records.js";
import {
  grants,
  intentText,
  readIntent,
  readRecord,
  recordText,
  withSource,
  type ImagePullCredentials,
  type ImagePulledRecord,
} from "./record.js";
import { RecordFiles } from "./record-files.js";
import type { NeedsProof } from "./verification-policy.js";

/** Images come and go: their records are looked through when so many were written, and when the agent starts. */
const PRUNE_EVERY = 50;

export interface RecordedAccessDeps {
  /** The agent's root directory. */
  rootDir: string;
  needsProof: NeedsProof;
  /** Records held in memory at most. */
  recordsInMemory: number;
  cri: Pick<CriClient, "imageStatus" | "listImages">;
  clock: Pick<Clock, "now">;
  log: Logger;
  metrics: PullRecordMetrics;
}

export class RecordedAccess implements ImageAccess {
  readonly verifies = true;
  private readonly intents: RecordFiles<{ image: string }>;
  private readonly records: RecordFiles<ImagePulledRecord>;
  private readonly recent: RecentRecords;
  /** Pulls under way by image. */
  private readonly underWay = new Map<string, number>();
  private readonly turns = new KeyedTurns();
  private opened: Promise<void> | undefined;
  /** Records written since those of images that are gone were removed. */
  private unpruned = 0;

  constructor(private readonly deps: RecordedAccessDeps) {
    const folder = join(deps.rootDir, "image_manager");
    this.intents = new RecordFiles(join(folder, "pulling"), readIntent, deps.log);
    this.records = new RecordFiles(join(folder, "pulled"), readRecord, deps.log);
    this.recent = new RecentRecords(deps.recordsInMemory);
    deps.metrics.watch({
      intentsOnDisk: () => (this.opened === undefined ? Promise.resolve(0) : this.intents.count()),
      recordsOnDisk: () => (this.opened === undefined ? Promise.resolve(0) : this.records.count()),
      intentsShare: () => this.underWay.size / deps.recordsInMemory,
      recordsShare: () => this.recent.size / deps.recordsInMemory,
    });
  }

  async mustProve(image: string, imageRef: string, own: OwnSources): Promise<boolean> {
    await this.open();
    const check = await this.check(image, imageRef, own).catch((error: unknown): AccessCheck => {
      this.deps.log.error(
        { err: error, image },
        `whether a pod may use image "${image}" can't be told: ${String(error)}`,
      );
      return "error";
    });
    this.deps.metrics.checked(check);
    return check === "mustAuthenticate" || check === "error";
  }

  async pulling(image: string): Promise<void> {
    await this.open();
    await this.turns.run(image, async () => {
      await this.intents.write(image, intentText({ image }));
      this.underWay.set(image, (this.underWay.get(image) ?? 0) + 1);
    });
  }

  /** A record that can't be written leaves its intent behind: the image then needs proof again. */
  async pulled(image: string, imageRef: string, source: CredentialSource | undefined): Promise<void> {
    try {
      await this.turns.run(imageRef, () => this.note(image, imageRef, source));
    } catch (error) {
      const { log } = this.deps;
      log.error(
        { err: error, image },
        `image "${image}" was pulled, but its record can't be written: ${String(error)}`,
      );
      this.count(image, -1);
      return;
    }
    await this.failed(image);
    if (this.unpruned >= PRUNE_EVERY) await this.tryPrune();
  }

  async failed(image: string): Promise<void> {
    await this.turns.run(image, async () => {
      if (this.count(image, -1) === 0) await this.intents.remove(image);
    });
  }

  private count(image: string, change: number): number {
    const left = Math.max(0, (this.underWay.get(image) ?? 0) + change);
    if (left === 0) this.underWay.delete(image);
    else this.underWay.set(image, left);
    return left;
  }

  private async check(image: string, imageRef: string, own: OwnSources): Promise<AccessCheck> {
    const record = await this.record(imageRef);
    const pulledByAgent = record !== undefined || this.underWay.has(image);
    if (!this.deps.needsProof(image, pulledByAgent)) return "credentialPolicyAllowed";
    const known = record?.credentialMapping[withoutTagAndDigest(image)];
    if (known === undefined) return "mustAuthenticate";
    if (known.nodePodsAccessible === true) return "credentialRecordFound";
    const fitting = await fittingSource(known, own);
    if (fitting === undefined) return "mustAuthenticate";
    // A secret with a new name or new content has shown itself to be as good as the one that is recorded.
    await this.turns.run(imageRef, () => this.note(image, imageRef, fitting));
    return "credentialRecordFound";
  }

  private async record(imageRef: string): Promise<ImagePulledRecord | undefined> {
    const known = this.recent.get(imageRef) ?? (await this.records.read(imageRef));
    if (known !== undefined) this.recent.set(known);
    return known;
  }

  private async note(image: string, imageRef: string, source: CredentialSource | undefined): Promise<void> {
    const known = await this.record(imageRef);
    const key = withoutTagAndDigest(image);
    const credentials = withSource(known?.credentialMapping[key], source);
    if (JSON.stringify(known?.credentialMapping[key]) === JSON.stringify(credentials)) return;
    await this.put(imageRef, { ...known?.credentialMapping, [key]: credentials });
  }

  private async put(imageRef: string, credentialMapping: ImagePulledRecord["credentialMapping"]): Promise<void> {
    const lastUpdatedTime = new Date(this.deps.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const record = { imageRef, lastUpdatedTime, credentialMapping };
    await this.records.write(imageRef, recordText(record));
    this.recent.set(record);
    this.unpruned++;
  }

  /** Once; tried again when it failed, for the runtime may not be there yet. */
  private open(): Promise<void> {
    this.opened ??= this.reconcile().catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  /** Pulls that the agent before this one did not see the end of, and records of images that are gone. */
  private async reconcile(): Promise<void> {
    const { cri, log } = this.deps;
    await Promise.all([this.intents.open(), this.records.open()]);
    for (const { image } of await this.intents.all()) {
      const found = (await cri.imageStatus({ image: { image } })).image;
      if (found !== undefined && (await this.record(found.id)) === undefined) {
        log.info({ image }, `image "${image}" came by a pull that an agent before this one began: it needs proof`);
        await this.put(found.id, {});
      }
      await this.intents.remove(image);
    }
    await this.prune();
  }

  /** Every record that is read here was written before the images are listed: what it is of was there by then. */
  private async prune(): Promise<void> {
    this.unpruned = 0;
    const records = await this.records.all();
    if (records.length === 0) return;
    const { images } = await this.deps.cri.listImages({});
    const present = new Set(images.flatMap(({ id, repoDigests }) => [id, ...repoDigests]));
    for (const { imageRef } of records.filter((record) => !present.has(record.imageRef))) {
      this.recent.delete(imageRef);
      await this.records.remove(imageRef);
    }
  }

  private async tryPrune(): Promise<void> {
    try {
      await this.prune();
    } catch (error) {
      this.deps.log.warn({ err: error }, `records of images that are gone could not be removed: ${String(error)}`);
    }
  }
}

/** Secrets before plugins, and neither when no record could say yes. */
async function fittingSource(known: ImagePullCredentials, own: OwnSources): Promise<CredentialSource | undefined> {
  const { kubernetesSecrets = [], kubernetesServiceAccounts = [] } = known;
  const fitting = async (kind: OwnKind) => (await own(kind)).find((source) => grants(known, source));
  const secret = kubernetesSecrets.length > 0 ? await fitting("secret") : undefined;
  return secret ?? (kubernetesServiceAccounts.length > 0 ? await fitting("serviceAccount") : undefined);
}
