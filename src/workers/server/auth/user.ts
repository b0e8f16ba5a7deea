// The user of a request: authentication.k8s.io/v1 UserInfo.
export interface User {
  name: string;
  uid?: string | undefined;
  groups: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

export const ANONYMOUS: User = { name: "system:anonymous", groups: ["system:unauthenticated"] };
const AUTHENTICATED = "system:authenticated";

/** Adds the group of all authenticated users. */
export function authenticated(user: User): User {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}
