// The resources of a container that an environment variable or a file may name (resourceFieldRef.resource).

/** Matches the list and the name: "limits", "cpu". Huge pages without a size are a name that no container has. */
export const RESOURCE_FIELD = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.*)$/;
