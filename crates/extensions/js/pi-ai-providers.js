// The built-in models of pi-ai, which here are those of the program.

import { getModel, getModels, getProviders } from "offshoot:models";
import { refused } from "offshoot:refused";

export { getModel as getBuiltinModel, getModels as getBuiltinModels, getProviders as getBuiltinProviders };
export const getAllBuiltinModels = () => getModels();
export const getBuiltinImageModel = () => undefined;
export const getBuiltinImageModels = () => [];
export const getBuiltinClassifierModel = () => undefined;
export const getBuiltinClassifierModels = () => [];
export const { builtinModels, builtinProviders, getBuiltinModelDataGeneratedAt, radiusProvider } = refused(
  "services and keys belong to the program; use `pi.registerProvider`",
);
