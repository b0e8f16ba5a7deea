// A patch by its media type; server-side apply is another thing (ownership.ts).

import { badRequest, unsupportedPatch } from "../objects/errors.js";
import { isFields, type ApiObject, type Fields } from "../objects/object.js";
import { applyJsonPatch } from "./json-patch.js";
import { applyMergePatch } from "./merge-patch.js";
import { applyStrategicMerge } from "./strategic-merge.js";

const PATCH_TYPES = [
  "application/json-patch+json",
  "application/merge-patch+json",
  "application/strategic-merge-patch+json",
];

export function patchFor(mediaType: string, patch: unknown): (object: ApiObject) => ApiObject {
  if (!PATCH_TYPES.includes(mediaType)) throw unsupportedPatch();
  return (object) => {
    if (mediaType === PATCH_TYPES[0]) return asObject(applyJsonPatch(object, patch));
    if (!isFields(patch))
      throw badRequest(
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
      );
    if (mediaType === PATCH_TYPES[1]) return asObject(applyMergePatch(object, patch));
    return asObject(applyStrategicMerge(object.kind, object, patch));
  };
}

function asObject(fields: Fields): ApiObject {
  if (!isFields(fields["metadata"])) throw badRequest("the patch removes metadata");
  return fields as unknown as ApiObject;
}
