// The file "copyright" of the packages, in Debian's form.

import { HOMEPAGE } from "./build.js";

/** https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/ */
export const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: nodelet
Source: ${HOMEPAGE}

Files: *
Copyright: 2026 the authors of nodelet
License: Apache-2.0

Files: usr/lib/nodelet/node/*
Copyright: 2009-2026 the contributors of Node.js and of the libraries in it
License: MIT-and-others
 usr/lib/nodelet/node/LICENSE has the licences of Node.js and of all parts of it.

Files: usr/lib/nodelet/dist/* usr/lib/nodelet/node_modules/*
Copyright: 2026 the authors of nodelet and those of the npm packages that its code contains
License: Apache-2.0-and-others
 nodelet is under Apache-2.0. /usr/share/doc/nodelet/THIRD-PARTY-LICENSES.gz has the
 name, version and licence of each npm package, and sbom.cdx.json their hashes.

License: Apache-2.0
 /usr/lib/nodelet/LICENSE has the full text; on Debian systems,
 /usr/share/common-licenses/Apache-2.0 has it, too.
`;
