// A node without a cluster: its API and its users.

import type { Trace } from "../kernel/trace.js";
import { OwnObjects, type ObjectClient } from "./object-clients.js";
import { OwnApiClient } from "./own-api-client.js";
import { OwnApiMaps } from "./own-api-maps.js";
import { OwnApi } from "./own-api.js";
import { OwnPods, type PodClient } from "./pod-clients.js";

export class OwnApiUsers {
  readonly api = new OwnApi();
  readonly pods: PodClient;
  readonly objects: ObjectClient;
  readonly maps: OwnApiMaps;

  constructor(trace: Trace) {
    const client = new OwnApiClient(trace);
    this.pods = new OwnPods(client, this.api);
    this.objects = new OwnObjects(client);
    this.maps = new OwnApiMaps(this.api, client, trace);
  }
}
