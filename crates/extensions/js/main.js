// Where our own script begins: makes what is global, and hands out what the worker calls.

import "offshoot:globals";
export { tick } from "offshoot:globals";
export { settle } from "offshoot:native";
export { begin, cancel } from "offshoot:calls";
