// Lines of a stream, with promises.

import { Interface, promises } from "offshoot:node/readline";

export const { createInterface } = promises;
export { Interface };
export default { ...promises, Interface };
