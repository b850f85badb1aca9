// What a value is.

const tag = (name) => (value) => Object.prototype.toString.call(value) === `[object ${name}]`;
const of = (Class) => (value) => value instanceof Class;

export const isPromise = of(Promise);
export const isDate = tag("Date");
export const isRegExp = tag("RegExp");
export const isMap = of(Map);
export const isSet = of(Set);
export const isWeakMap = of(WeakMap);
export const isWeakSet = of(WeakSet);
export const isNativeError = of(Error);
export const isArrayBuffer = of(ArrayBuffer);
export const isAnyArrayBuffer = tag("ArrayBuffer");
export const isArrayBufferView = ArrayBuffer.isView;
export const isUint8Array = of(Uint8Array);
export const isTypedArray = (value) => ArrayBuffer.isView(value) && !(value instanceof DataView);
export const isAsyncFunction = tag("AsyncFunction");
export const isGeneratorFunction = tag("GeneratorFunction");
export const isGeneratorObject = tag("Generator");
export const isBoxedPrimitive = (value) => [Number, String, Boolean, BigInt, Symbol].some((Class) => value instanceof Class);
export const isProxy = () => false;
export const isModuleNamespaceObject = tag("Module");

export default {
  isPromise, isDate, isRegExp, isMap, isSet, isWeakMap, isWeakSet, isNativeError, isArrayBuffer, isAnyArrayBuffer, isArrayBufferView,
  isUint8Array, isTypedArray, isAsyncFunction, isGeneratorFunction, isGeneratorObject, isBoxedPrimitive, isProxy, isModuleNamespaceObject,
};
