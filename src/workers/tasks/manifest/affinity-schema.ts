// The table of a pod's affinity and topology spread constraints. The kubelet reads node affinity only; the rest is checked as the API checks it.
import { int, list, map, object, onceKeptWhole, oneOf, pointer, str, text } from "./field-types.js";
import { dnsLabel, dnsSubdomain, labelValue, notEmpty, qualifiedName } from "../../../shared/api/manifest/formats.js";

const key = text(qualifiedName);
const weight = int(1, 100);
const policy = pointer(oneOf("Honor", "Ignore"));

const labelSelector = object({
  matchLabels: map(text(labelValue)),
  matchExpressions: list(
    object({ key, operator: oneOf("In", "NotIn", "Exists", "DoesNotExist"), values: list(text(labelValue)) }, [
      "key",
      "operator",
    ]),
  ),
});

const operator = oneOf("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt");
const matchFields = list(
  object({ key: oneOf("metadata.name"), operator: oneOf("In", "NotIn"), values: list(text(dnsSubdomain)) }, [
    "key",
    "operator",
  ]),
);
/** Values of preferred terms need not be those of labels. */
const nodeTerm = (values: ReturnType<typeof list>): ReturnType<typeof object> =>
  object({ matchExpressions: list(object({ key, operator, values }, ["key", "operator"])), matchFields });

const podTerm = object(
  {
    labelSelector,
    namespaces: list(text(dnsLabel)),
    topologyKey: key,
    namespaceSelector: labelSelector,
    matchLabelKeys: list(key),
    mismatchLabelKeys: list(key),
  },
  ["topologyKey"],
);
const podAffinity = object({
  requiredDuringSchedulingIgnoredDuringExecution: list(podTerm),
  preferredDuringSchedulingIgnoredDuringExecution: list(
    object({ weight, podAffinityTerm: podTerm }, ["weight", "podAffinityTerm"]),
  ),
});

export const affinity = onceKeptWhole(
  object({
    nodeAffinity: object({
      requiredDuringSchedulingIgnoredDuringExecution: object(
        { nodeSelectorTerms: list(nodeTerm(list(text(labelValue)))) },
        ["nodeSelectorTerms"],
      ),
      preferredDuringSchedulingIgnoredDuringExecution: list(
        object({ weight, preference: nodeTerm(list(str)) }, ["weight"], [], { preference: {} }),
      ),
    }),
    podAffinity,
    podAntiAffinity: podAffinity,
  }),
);

export const topologySpreadConstraints = list(
  onceKeptWhole(
    object(
      {
        maxSkew: int(1),
        topologyKey: text(notEmpty),
        whenUnsatisfiable: oneOf("DoNotSchedule", "ScheduleAnyway"),
        labelSelector,
        minDomains: int(1),
        nodeAffinityPolicy: policy,
        nodeTaintsPolicy: policy,
        matchLabelKeys: list(key),
      },
      ["maxSkew", "topologyKey", "whenUnsatisfiable"],
    ),
  ),
);
