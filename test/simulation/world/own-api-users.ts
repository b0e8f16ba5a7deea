// A node without a cluster: its API and its users.

import type { Trace } from "../kernel/trace.js";
import { OwnObjects, type ObjectClient } from "./object-clients.js";
import { OwnApiClient } from "./own-api-client.js";
import { OwnApiMaps } from "./own-api-maps.js";
import { ApiReaders } from "./own-api-readers.js";
import { OwnApi } from "./own-api.js";
import { OwnPods, type PodClient } from "./pod-clients.js";

export class OwnApiUsers {
  readonly api = new OwnApi();
  readonly pods: PodClient;
  readonly objects: ObjectClient;
  readonly maps: OwnApiMaps;
  /** Undefined: nothing but the kubelet follows objects. */
  readonly readers: ApiReaders | undefined;

  constructor(trace: Trace, hasReaders: boolean) {
    const client = new OwnApiClient(trace);
    this.pods = new OwnPods(client, this.api);
    this.objects = new OwnObjects(client);
    this.readers = hasReaders ? new ApiReaders(client, trace) : undefined;
    this.maps = new OwnApiMaps(this.api, client, trace);
  }
}
