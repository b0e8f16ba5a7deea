// Services of the cluster, for environment variables: there may be thousands, and only names and addresses are kept.

import { OperatorError } from "../../../shared/base/errors/operator-error.js";
import { omitUndefined } from "../../../shared/base/objects/omit-undefined.js";
import { SERVICES } from "../../../shared/kubernetes/api/client/kinds.js";
import type { Service } from "../../../shared/kubernetes/api/objects.js";
import { Collection, type CollectionOptions } from "./collection.js";

/** The first list has not come in time. */
export function servicesNotReadError(): OperatorError {
  return new OperatorError("services have not yet been read at least once, cannot construct envvars");
}

export function servicesCollection({
  follow,
  clock,
}: Pick<CollectionOptions<Service>, "follow" | "clock">): Collection<Service> {
  return new Collection({ kind: SERVICES, follow, clock, transform: essence });
}

function essence({ metadata, spec }: Service): Service {
  const { name, namespace, resourceVersion } = metadata;
  const { clusterIP, ports } = spec ?? {};
  return {
    metadata: omitUndefined({
      name,
      namespace,
      resourceVersion,
    }),
    spec: omitUndefined({
      clusterIP,
      ports:
        ports !== undefined
          ? ports.map(({ name: portName, port, protocol }) =>
              omitUndefined({
                port,
                name: portName,
                protocol,
              }),
            )
          : undefined,
    }),
  };
}
