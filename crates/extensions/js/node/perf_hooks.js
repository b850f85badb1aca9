// Measurements of time.

export const { performance } = globalThis;
export class PerformanceObserver {
  observe() {}
  disconnect() {}
}
export const constants = {};
export default { performance, PerformanceObserver, constants };
