// Streams, with promises.

import { promises } from "offshoot:node/stream";

export const { pipeline, finished } = promises;
export default promises;
