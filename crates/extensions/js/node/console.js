// The console: its lines are in the log.

export const { log, info, debug, trace, warn, error, dir, table, group, groupEnd, time, timeEnd, assert } = globalThis.console;
export default globalThis.console;
