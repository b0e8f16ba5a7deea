// A stranger at the authenticated port: whatever it sends, the operator is served beside it.
// @headline Hostile tenants and clients | So do attacks of unauthorised clients. | the same
import { STRANGER } from "./attacks/stranger.js";
import { attackWith } from "./family.js";

attackWith(STRANGER);
