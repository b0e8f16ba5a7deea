// Decides from the pull records whether all pods may use a present image, or only those whose credentials pulled it.
// Invariant: an intent is on disk before the kubelet calls PullImage. It is deleted when the record of its image is on
// disk, or when its only pull failed. An image with an intent, or with an unreadable or unwritten record, counts as
// pulled by the kubelet. Pods must prove their access to it.

import { join } from "node:path";
import type { Clock } from "../../../../shared/base/clock/clock.js";
import { quote } from "../../../../shared/base/text/quote.js";
import { KeyedSerializer } from "../../../../shared/base/turns/keyed-serializer.js";
import { apiTime } from "../../../../shared/kubernetes/api/time.js";
import type { CriClient } from "../../../../shared/kubernetes/cri/client.js";
import type { Logger } from "../../../../shared/telemetry/log/logger.js";
import type { CredentialSource, OwnKind } from "../credentials.js";
import type { ImageAccess, OwnSources } from "../image-access.js";
import { withoutTagAndDigest } from "../image-name.js";
import type { AccessCheck, PullRecordMetrics } from "./metrics.js";
import { RecentRecords } from "./recent-records.js";
import { RecordFiles } from "./record-files.js";
import {
  grants,
  intentText,
  PullRecordError,
  readIntent,
  readRecord,
  recordName,
  recordText,
  withSource,
  type ImagePullCredentials,
  type ImagePulledRecord,
  type ImagePullIntent,
} from "./record.js";
import type { NeedsProof } from "./verification-policy.js";

/** Images come and go: their records are looked through when so many were written, and when the kubelet starts. */
const PRUNE_EVERY = 50;

export interface RecordedAccessDeps {
  /** The kubelet's root directory. */
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
  private readonly intents: RecordFiles<ImagePullIntent>;
  private readonly records: RecordFiles<ImagePulledRecord>;
  private readonly recent: RecentRecords;
  /** Pulls under way by image. */
  private readonly underWay = new Map<string, number>();
  /** Images whose intent is also left from an earlier pull: the failure of this pull does not remove it. */
  private readonly unsettled = new Set<string>();
  /** References of images that were pulled, and whose record could not be written. */
  private readonly unrecorded = new Set<string>();
  private readonly turns = new KeyedSerializer();
  private opened: Promise<void> | undefined;
  /** Records written since the last removal of records of removed images. */
  private unpruned = 0;

  constructor(private readonly deps: RecordedAccessDeps) {
    const folder = join(deps.rootDir, "image_manager");
    const intents = { decode: readIntent, of: ({ image }: ImagePullIntent) => image };
    const records = { decode: readRecord, of: ({ imageRef }: ImagePulledRecord) => imageRef };
    this.intents = new RecordFiles(join(folder, "pulling"), intents, deps.log);
    this.records = new RecordFiles(join(folder, "pulled"), records, deps.log);
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
        `cannot read the pull record of image ${quote(image)}, the pod must prove its access: ${String(error)}`,
      );
      return "error";
    });
    this.deps.metrics.checked(check);
    return check === "mustAuthenticate" || check === "error";
  }

  async pulling(image: string): Promise<void> {
    await this.open();
    await this.turns.run(image, async () => {
      if (!this.underWay.has(image) && (await this.intents.has(image))) this.unsettled.add(image);
      await this.intents.write(image, intentText({ image }));
      this.underWay.set(image, (this.underWay.get(image) ?? 0) + 1);
    });
  }

  /** A record that can't be written leaves its intent behind, and the image needs proof. */
  async pulled(image: string, imageRef: string, source: CredentialSource | undefined): Promise<void> {
    const isRecorded = await this.tryNote(image, imageRef, source);
    if (isRecorded) this.unrecorded.delete(imageRef);
    else this.unrecorded.add(imageRef);
    await this.turns.run(image, async () => {
      if (isRecorded) this.unsettled.delete(image);
      else this.unsettled.add(image);
      await this.ended(image);
    });
    if (this.unpruned >= PRUNE_EVERY) await this.tryPrune();
  }

  async failed(image: string): Promise<void> {
    await this.turns.run(image, () => this.ended(image));
  }

  /** The last pull under way ends its intent. One that can't be removed stays: its image needs proof meanwhile. */
  private async ended(image: string): Promise<void> {
    if (this.count(image, -1) > 0 || this.unsettled.has(image)) return;
    await this.intents.tryRemove(recordName(image));
  }

  private count(image: string, change: number): number {
    const left = Math.max(0, (this.underWay.get(image) ?? 0) + change);
    if (left === 0) this.underWay.delete(image);
    else this.underWay.set(image, left);
    return left;
  }

  private async check(image: string, imageRef: string, own: OwnSources): Promise<AccessCheck> {
    // Under a policy that never verifies credentials, no record changes the result.
    if (!this.deps.needsProof(image, true)) return "credentialPolicyAllowed";
    const record = await this.record(imageRef);
    const pulledByAgent = record !== undefined || (await this.isDoubted(image, imageRef));
    if (!this.deps.needsProof(image, pulledByAgent)) return "credentialPolicyAllowed";
    const known = record?.credentialMapping[withoutTagAndDigest(image)];
    if (known === undefined) return "mustAuthenticate";
    if (known.nodePodsAccessible === true) return "credentialRecordFound";
    const fitting = await fittingSource(known, own);
    if (fitting === undefined) return "mustAuthenticate";
    // A secret with a new name or new content is as good as the recorded one.
    await this.tryNote(image, imageRef, fitting);
    return "credentialRecordFound";
  }

  private async isDoubted(image: string, imageRef: string): Promise<boolean> {
    return this.underWay.has(image) || this.unrecorded.has(imageRef) || (await this.intents.has(image));
  }

  private async record(imageRef: string): Promise<ImagePulledRecord | undefined> {
    const known = this.recent.get(imageRef) ?? (await this.records.read(imageRef));
    if (known !== undefined) this.recent.set(known);
    return known;
  }

  /** False: the record could not be written, which was logged. */
  private async tryNote(image: string, imageRef: string, source: CredentialSource | undefined): Promise<boolean> {
    try {
      await this.turns.run(imageRef, () => this.recordPull(image, imageRef, source));
      return true;
    } catch (error) {
      const message = `cannot write the pull record of image ${quote(image)}: ${String(error)}`;
      this.deps.log.error({ err: error, image }, message);
      return false;
    }
  }

  private async recordPull(image: string, imageRef: string, source: CredentialSource | undefined): Promise<void> {
    // A damaged record grants nothing: the access must be verified again.
    const known = await this.record(imageRef).catch((error: unknown) => {
      if (error instanceof PullRecordError) return undefined;
      throw error;
    });
    const key = withoutTagAndDigest(image);
    const credentials = withSource(known?.credentialMapping[key], source);
    if (JSON.stringify(known?.credentialMapping[key]) === JSON.stringify(credentials)) return;
    await this.put(imageRef, { ...known?.credentialMapping, [key]: credentials });
  }

  private async put(imageRef: string, credentialMapping: ImagePulledRecord["credentialMapping"]): Promise<void> {
    const lastUpdatedTime = apiTime(this.deps.clock.now());
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

  /** Pulls that the previous kubelet did not complete, and records of removed images. */
  private async reconcile(): Promise<void> {
    await Promise.all([this.intents.open(), this.records.open()]);
    for (const intent of await this.intents.usable()) await this.adoptPull(intent);
    await this.prune();
  }

  /** The runtime may still end a pull whose image is not there: its intent stays, as upstream's does. */
  private async adoptPull({ image }: ImagePullIntent): Promise<void> {
    const { cri, log } = this.deps;
    const found = (await cri.imageStatus({ image: { image } })).image;
    if (found === undefined) return;
    try {
      if (!(await this.records.has(found.id))) {
        log.info(
          { image },
          `image ${quote(image)} comes from a pull that a previous kubelet started; pods must prove their access to it`,
        );
        await this.put(found.id, {});
      }
    } catch (error) {
      const message = `cannot write the pull record of image ${quote(image)}, its pull intent stays: ${String(error)}`;
      log.error({ err: error, image }, message);
      this.unrecorded.add(found.id);
      return;
    }
    await this.intents.tryRemove(recordName(image));
  }

  /** Every file named here was written before the images are listed: its image was there by then. */
  private async prune(): Promise<void> {
    this.unpruned = 0;
    const unrecorded = [...this.unrecorded];
    const names = await this.records.names();
    if (names.length === 0 && unrecorded.length === 0) return;
    const { images } = await this.deps.cri.listImages({});
    const present = new Set(images.flatMap(({ id, repoDigests }) => [id, ...repoDigests]));
    const kept = new Set([...present].map(recordName));
    for (const imageRef of this.recent.refs()) if (!present.has(imageRef)) this.recent.delete(imageRef);
    for (const imageRef of unrecorded) if (!present.has(imageRef)) this.unrecorded.delete(imageRef);
    await Promise.all(names.filter((name) => !kept.has(name)).map((name) => this.records.tryRemove(name)));
  }

  private async tryPrune(): Promise<void> {
    try {
      await this.prune();
    } catch (error) {
      this.deps.log.warn({ err: error }, `cannot remove the pull records of removed images: ${String(error)}`);
    }
  }
}

/** Secrets before plugins, and neither if no record could grant access. */
async function fittingSource(known: ImagePullCredentials, own: OwnSources): Promise<CredentialSource | undefined> {
  const { kubernetesSecrets = [], kubernetesServiceAccounts = [] } = known;
  const fitting = async (kind: OwnKind) => (await own(kind)).find((source) => grants(known, source));
  const secret = kubernetesSecrets.length > 0 ? await fitting("secret") : undefined;
  return secret ?? (kubernetesServiceAccounts.length > 0 ? await fitting("serviceAccount") : undefined);
}
