// A stranger at the authenticated port: whatever it sends, the operator is served beside it.
import { STRANGER } from "./attacks/stranger.js";
import { attackWith } from "./family.js";

attackWith(STRANGER);
